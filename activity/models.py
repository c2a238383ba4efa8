from typing import ClassVar

from django.db import models

from accounts.models import Person


class Direction(models.TextChoices):
    IN = "in"
    OUT = "out"


class Log(models.Model):
    """Somebody went through a door. A person's logs are in the order of (at, id)."""

    # No constraint: MySQL would add an index for it.
    person = models.ForeignKey(
        Person, models.CASCADE, db_index=False, db_constraint=False, related_name="+"
    )
    at = models.BigIntegerField()
    """Unix time in seconds, so that both engines add up times without a conversion a row."""
    device = models.SmallIntegerField()
    direction = models.CharField(max_length=3, choices=Direction)

    objects: ClassVar[models.Manager["Log"]]

    class Meta:
        abstract = True


class PlainLog(Log):
    """The published table: nothing is indexed but the primary key."""

    class Meta:
        db_table = "activity_log_plain"


class IndexedLog(Log):
    class Meta:
        db_table = "activity_log_indexed"
        # In this order: the logs of one person between two times are then next to each other.
        indexes = [models.Index(fields=["person", "at"], name="activity_person_at")]
