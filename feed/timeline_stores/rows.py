"""Timelines in SQL: a row per delivery, written one by one, in bulk or set-based; or no rows."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import OuterRef, Subquery

from accounts.ids import MAX_ID
from accounts.models import Follow, Person
from db.prepared import Prepared
from db.rows import delete_first
from feed import epochs
from feed.celebrities import merged
from feed.due import due_ids, posts_due
from feed.models import (
    BulkEntry,
    CopiedEntry,
    Epoch,
    Post,
    RowwiseEntry,
    SetBasedEntry,
    TimelineEntry,
    TimelineFloor,
)
from feed.readers import delivered_since
from feed.recipients import owners_of
from feed.statements import insert_new
from feed.timeline_stores.base import Held, TimelineStore, Wanted

_FLOOR = "COALESCE((SELECT floor FROM feed_timeline_floor WHERE owner_id = %(owner)s), %(lowest)s)"
_READ = f"""SELECT own.floor, newest.post_id FROM (SELECT {_FLOOR} AS floor) own
      LEFT JOIN (
        SELECT post_id FROM {{table}}
         WHERE owner_id = %(owner)s AND post_id < %(before)s AND post_id > {_FLOOR}
         ORDER BY post_id DESC LIMIT %(limit)s
      ) newest ON 1 = 1
     ORDER BY newest.post_id DESC
"""  # noqa: S608  table names of our own
"""Django's compiler would take most of a read's time. A timeline without rows has a floor too."""

MOST_PEOPLE, MOST_OWNERS, MOST_ROWS = 500, 10, 100
"""Timelines that are looked at for rows to remove; those that rows are removed from at once, and
how many from each."""
STATEMENT_BYTES = 2**19
"""Half of the smallest ``max_allowed_packet`` that servers come with."""
ROW_BYTES = 64
"""Of a statement, for each row beside its text."""
ONLY_TO_READERS = "AND reader_id IN (SELECT person_id FROM feed_reader WHERE read_on >= %s)"

NOT_OF_CELEBRITIES = """
   AND post.author_id NOT IN (SELECT person_id FROM feed_celebrity WHERE state = 'pulled')"""


class RowStore(TimelineStore):
    """Timelines with a row for each delivery.

    A timeline's floor is the epoch's, or a higher one in ``TimelineFloor`` since the last change
    of what its owner reads. Rows at or below it are never read, and are removed little by little.
    """

    is_transactional = True
    accepts_partial_delivery = True
    model: ClassVar[type[TimelineEntry]]
    _looked_at = 0
    """The last person whose rows this process has looked at, to remove some."""

    def deliver(self, posts: Sequence[Post]) -> None:
        for post in posts:
            self.deliver_to(post, owners_of(post))

    def find(self, owner_id: int, page: Wanted) -> Held:
        statement = Prepared(_READ.format(table=self.model._meta.db_table))
        lowest = epochs.get_or_begin(self).floor
        end = MAX_ID if page.before is None else page.before
        values = {"owner": owner_id, "lowest": lowest, "before": end, "limit": page.limit}
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(statement, values)
            rows = cursor.fetchall()
        return Held([post_id for _, post_id in rows if post_id is not None], rows[0][0])

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        floors = TimelineFloor.objects
        floors.bulk_create(
            (TimelineFloor(owner_id=owner_id, floor=through) for owner_id in owner_ids),
            ignore_conflicts=True,
        )
        floors.filter(owner_id__in=owner_ids, floor__lt=through).update(floor=through)

    def discard(self, owner_id: int) -> None:
        self.model.objects.filter(owner_id=owner_id).delete()

    def clear(self) -> None:
        self.model.objects.all().delete()

    def remove_unread(self) -> bool:
        with transaction.atomic():
            # No epoch begins meanwhile, and no timeline is rebuilt.
            epoch = Epoch.objects.select_for_update().filter(store=self.alias).first()
            if epoch is None:
                return False
            rows = self.model.objects.filter(owner_id=OuterRef("pk")).order_by("post_id")
            people = Person.objects.filter(id__gt=self._looked_at).order_by("id")
            oldest = people.annotate(oldest=Subquery(rows.values("post_id")[:1]))
            found = dict(oldest.values_list("id", "oldest")[:MOST_PEOPLE])
            floors = TimelineFloor.objects.filter(owner_id__in=found)
            ends = dict.fromkeys(found, epoch.floor) | dict(floors.values_list("owner_id", "floor"))
            unread = [who for who, post_id in found.items() if post_id and post_id <= ends[who]]
            for owner_id in unread[:MOST_OWNERS]:
                below = self.model.objects.filter(owner_id=owner_id, post_id__lte=ends[owner_id])
                delete_first(below, "post_id", most=MOST_ROWS)
        if not unread:
            self._looked_at = max(found, default=0) if len(found) == MOST_PEOPLE else 0
        return bool(unread)

    @transaction.atomic
    def rebuild(self, owner_id: int) -> None:
        """Write the rows below the floor, while none of them is being delivered."""
        floors = TimelineFloor.objects.select_for_update()  # a change waits for this row
        lowest = {"floor": epochs.get_or_begin(self).floor}
        through = floors.get_or_create(owner_id=owner_id, defaults=lowest)[0].floor
        epochs.wait_for_deliveries(through)
        list(Epoch.objects.select_for_update())  # nobody removes what is written here
        self.model.objects.filter(owner_id=owner_id, post_id__lte=through).delete()
        due = posts_due(owner_id).using(DEFAULT_DB_ALIAS).filter(id__lte=through).order_by("id")
        self.model.objects.bulk_create(self.entry(owner_id, post) for post in due)
        TimelineFloor.objects.filter(owner_id=owner_id).update(floor=0)

    def entry(self, owner_id: int, post: Post) -> TimelineEntry:
        """Return an unsaved row."""
        model: Any = self.model
        row: TimelineEntry = model(owner_id=owner_id, post_id=post.id)
        if isinstance(row, CopiedEntry):
            row.body = post.body
        return row

    def missing_entries(self, post: Post, owner_ids: Sequence[int]) -> Iterator[TimelineEntry]:
        """Yield the missing rows of a post, unsaved; none if it has been delivered."""
        rows = self.model.objects.filter(post_id=post.id)
        delivered = set(rows.values_list("owner_id", flat=True))
        for owner_id in owner_ids:
            if owner_id not in delivered:
                yield self.entry(owner_id, post)


class Rowwise(RowStore):
    """One ORM save per delivery, each with a copy of the post's text: the published baseline.

    The cost: 501 statements per post, and a text that must be erased 501 times.
    """

    model = RowwiseEntry

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        for entry in self.missing_entries(post, owner_ids):
            entry.save(force_insert=True)


class Bulk(RowStore):
    """The rows of ``rowwise``, but one INSERT per post, or a few for long texts."""

    model = BulkEntry

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        row_bytes = ROW_BYTES + 2 * len(post.body.encode())  # each byte may have to be escaped
        missing = self.missing_entries(post, owner_ids)
        BulkEntry.objects.bulk_create(missing, batch_size=max(1, STATEMENT_BYTES // row_bytes))


class SetBased(RowStore):
    """One ``INSERT … SELECT`` per batch, into a table that is its primary key (owner, post).

    The ids of readers never leave the database. Rows are written in the table's own order, so that
    every page of it is touched once per batch, not once per post.
    """

    model = SetBasedEntry

    def deliver(self, posts: Sequence[Post]) -> None:
        ids = [post.id for post in posts]
        if not ids:
            return
        since = delivered_since()
        condition, days = ("", []) if since is None else (ONLY_TO_READERS, [since])
        if merged():
            condition += NOT_OF_CELEBRITIES
        insert_new(_insert(len(ids), condition), [*ids, *days, *ids])

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        entries = [SetBasedEntry(owner_id=owner_id, post_id=post.id) for owner_id in owner_ids]
        SetBasedEntry.objects.bulk_create(entries, ignore_conflicts=True)


class Pull(TimelineStore):
    """Writes nothing: a timeline is computed from the posts on each read."""

    is_transactional = True
    is_computed_on_read = True

    def deliver(self, posts: Sequence[Post]) -> None:
        pass

    def find(self, owner_id: int, page: Wanted) -> Held:
        return Held(due_ids(owner_id, before=page.before, limit=page.limit), floor=0)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        pass

    def clear(self) -> None:
        pass


def _insert(posts: int, condition: str) -> str:
    ids = ", ".join(["%s"] * posts)
    return f"""
        {SetBasedEntry._meta.db_table} (owner_id, post_id)
        SELECT follow.reader_id AS owner_id, post.id AS post_id
          FROM {Post._meta.db_table} post
          JOIN {Follow._meta.db_table} follow ON follow.author_id = post.author_id
         WHERE post.id IN ({ids}) {condition}
         UNION ALL
        SELECT author_id, id FROM {Post._meta.db_table} WHERE id IN ({ids})
         ORDER BY owner_id, post_id
    """  # noqa: S608  table names of our own
