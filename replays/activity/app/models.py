from django.db import models

from accounts.models import Person


class Direction(models.TextChoices):
    IN = "in"
    OUT = "out"


class Log(models.Model):
    """A person's entry or exit. A person's logs are ordered by (at, id)."""

    # No constraint: MySQL would add an index for it.
    person = models.ForeignKey(
        Person, models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    at = models.BigIntegerField()
    """Unix time in seconds, so that both engines add up times without a conversion per row."""
    device = models.SmallIntegerField()
    direction = models.CharField(max_length=3, choices=Direction)

    class Meta:
        abstract = True


class PlainLog(Log):
    """The published table: only the primary key is indexed."""

    class Meta:
        db_table = "activity_log_plain"


class IndexedLog(Log):
    class Meta:
        db_table = "activity_log_indexed"
        # Person first: the logs of one person between two times are then adjacent.
        indexes = [models.Index(fields=["person", "at"], name="activity_person_at")]


class Card(models.Model):
    """A card and the person who holds it."""

    number = models.CharField(max_length=45, primary_key=True)
    person = models.ForeignKey(Person, models.CASCADE, db_constraint=False, related_name="+")

    class Meta:
        db_table = "activity_card"


class Gate(models.Model):
    """A pair of devices: one records entries, the other exits."""

    entry_device = models.IntegerField(unique=True)
    exit_device = models.IntegerField(unique=True)

    class Meta:
        db_table = "activity_gate"


class Tag(models.Model):
    """One use of a card at a device, as published. A card's tags are ordered by (at, id)."""

    id = models.AutoField(primary_key=True)
    card = models.CharField(max_length=45)
    at = models.DateTimeField()
    device = models.IntegerField()

    class Meta:
        abstract = True


class PlainTag(Tag):
    class Meta:
        db_table = "activity_tag_plain"


class IndexedTag(Tag):
    class Meta:
        db_table = "activity_tag_indexed"
        indexes = [models.Index(fields=["card", "at"], name="activity_card_at")]
