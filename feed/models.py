from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.models import Person

MAX_BODY_CHARACTERS = 2000
MAX_ERROR_CHARACTERS = 500

AGE = models.ExpressionWrapper(Now() - models.F("created_at"), output_field=models.DurationField())


class PostQuerySet(models.QuerySet["Post"]):
    def live(self) -> "PostQuerySet":
        """Posts that their authors have not deleted."""
        return self.filter(deleted_at=None)

    def pending(self) -> "PostQuerySet":
        """The backlog: posts without a receipt."""
        return self.filter(delivered_at=None)

    def not_set_aside(self) -> "PostQuerySet":
        """Posts that are not set aside (``Poison``)."""
        return self.filter(~models.Exists(Poison.objects.filter(post=models.OuterRef("pk"))))


class Post(models.Model):
    """A person's post; a deleted one stays as an empty tombstone, which the audit needs."""

    author = models.ForeignKey(Person, models.CASCADE, related_name="posts")
    body = models.TextField(max_length=MAX_BODY_CHARACTERS)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    delivered_at = models.DateTimeField(null=True, editable=False)
    """The receipt: when all deliveries were confirmed, by the database's clock like created_at."""
    deleted_at = models.DateTimeField(null=True, editable=False)
    like_count = models.PositiveIntegerField(default=0, editable=False)
    """Of the replay browse, which has the likes and the listing by them."""

    objects: ClassVar[PostQuerySet] = PostQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [
            # Serves the claim too: both engines append the id, so pending posts are in id order.
            models.Index(fields=["delivered_at"], name="post_backlog"),
            # The same replay's listing, in its order.
            models.Index(fields=["deleted_at", "like_count", "id"], name="post_by_likes"),
        ]


class Poison(models.Model):
    """A post whose delivery fails where others succeed: set aside, and tried alone at ``retry_at``.

    Drainers delete those whose posts have got their receipts since.
    """

    post = models.OneToOneField(Post, models.CASCADE, primary_key=True, related_name="+")
    failures = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(db_default=Now())
    """By the database's clock."""
    error = models.CharField(max_length=MAX_ERROR_CHARACTERS)
    """The last one."""


class IdempotencyKey(models.Model):
    """Maps a person's idempotency key to one post. Both texts are stored as SHA-256."""

    pk = models.CompositePrimaryKey("author_id", "key_sha256")
    author = models.ForeignKey(Person, models.CASCADE, db_index=False, related_name="+")
    key_sha256 = models.CharField(max_length=64)
    body_sha256 = models.CharField(max_length=64)
    post = models.ForeignKey(Post, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(db_default=Now(), db_index=True, editable=False)


class TimelineEntry(models.Model):
    """A delivery: one post in one person's timeline. Each SQL store has a table of its own."""

    owner_id: int
    post_id: int
    objects: ClassVar[models.Manager[Any]]

    class Meta:
        abstract = True


class CopiedEntry(TimelineEntry):
    """The published schema: its own id, foreign keys and their indexes, a copy of the text."""

    owner = models.ForeignKey(Person, models.CASCADE, related_name="+")
    post = models.ForeignKey(Post, models.CASCADE, related_name="+")
    body = models.TextField(max_length=MAX_BODY_CHARACTERS)

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["owner", "post"], name="%(class)s_delivered_once")
        ]


class RowwiseEntry(CopiedEntry):
    class Meta(CopiedEntry.Meta):
        db_table = "feed_timeline_rowwise"


class BulkEntry(CopiedEntry):
    class Meta(CopiedEntry.Meta):
        db_table = "feed_timeline_bulk"


class SetBasedEntry(TimelineEntry):
    """The smallest schema: the table is its primary key, without other indexes."""

    pk = models.CompositePrimaryKey("owner_id", "post_id")
    owner_id = models.BigIntegerField()
    post_id = models.BigIntegerField()

    class Meta:
        db_table = "feed_timeline_setbased"


class PackedTimeline(models.Model):
    """A person's whole timeline in one row."""

    owner_id = models.BigIntegerField(primary_key=True)
    post_ids = models.BinaryField()
    """Ascending and distinct, packed by ``feed.timeline_stores.packing``."""

    class Meta:
        db_table = "feed_timeline_packed"


class TimelineFloor(models.Model):
    """Above this id the rows of a timeline are exact (``RowStore``); without a row, the epoch's."""

    owner_id = models.BigIntegerField(primary_key=True)
    floor = models.BigIntegerField()

    class Meta:
        db_table = "feed_timeline_floor"


class Reader(models.Model):
    """When a person last read their feed (``feed.readers``)."""

    person_id = models.BigIntegerField(primary_key=True)
    read_on = models.DateField()
    is_returning = models.BooleanField(default=False)
    """They are delivered to again, but their timeline still lacks what was not delivered."""


class Celebrity(models.Model):
    """An author whose posts are merged when feeds are read (``feed.celebrities``)."""

    class State(models.TextChoices):
        ENTERING = "entering"
        PULLED = "pulled"
        LEAVING = "leaving"

    person_id = models.BigIntegerField(primary_key=True)
    state = models.CharField(max_length=10, choices=State, default=State.ENTERING)
    changed_at = models.DateTimeField(db_default=Now())


class FollowChange(models.Model):
    """A committed change that the reader's timeline doesn't show yet (``feed.follows``)."""

    author_id = models.BigIntegerField()
    reader_id = models.BigIntegerField()
    changed_at = models.DateTimeField(db_default=Now())


class AuthorChange(models.Model):
    """A person who was deactivated, reactivated or deleted: their posts don't show it yet."""

    person_id = models.BigIntegerField()
    changed_at = models.DateTimeField(db_default=Now())


class JournalStep(models.Model):
    """Deliveries and deletions that streams show after those of earlier steps (feed.journal)."""

    number = models.BigIntegerField(primary_key=True)
    nonce = models.BigIntegerField()
    """Random: a restored database uses the number again."""
    news = models.BinaryField()
    """Pairs of 64-bit numbers: a post's id, negative for a deletion, and its author's."""
    written_at = models.DateTimeField(db_default=Now(), db_index=True)


class Epoch(models.Model):
    """The one row that says into which store the receipts' deliveries went (``feed.epochs``)."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.BigIntegerField()
    """Random: a restored or copied database never continues another one's epoch."""
    store = models.CharField(max_length=64)
    """The alias of the timeline store."""
    server = models.TextField(blank=True)
    """Which runs of which servers keep its timelines; empty for the database itself."""
    floor = models.BigIntegerField()
    """The newest post when the epoch began."""
    shards = models.PositiveIntegerField()
    """The number of shards of the stores in Redis, a power of two."""
    active_days = models.PositiveIntegerField(default=0)
    """Nothing is delivered to people who haven't read for so many days; 0: to everyone."""
    closed_at = models.DateTimeField(null=True)
    """Since when nobody may use the store, because another epoch is about to begin."""
    changed_at = models.DateTimeField(null=True)
    """When timelines were last changed by something else than a delivery with its receipt."""
