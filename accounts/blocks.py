"""Blocks: two people of whom one has blocked the other see nothing of each other."""

from typing import TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet
from rest_framework.exceptions import ValidationError

from accounts.follows import Edge, both_ways, end_locked, lock
from accounts.models import Block

Row = TypeVar("Row", bound=Model)
UNBLOCKED = """
    NOT EXISTS (SELECT 1 FROM accounts_block WHERE person_id = %s AND other_id = {0})
    AND NOT EXISTS (SELECT 1 FROM accounts_block WHERE person_id = {0} AND other_id = %s)
"""


def block(person_id: int, other_id: int) -> list[Edge]:
    """Block somebody, and end what they read of each other, and requests; return what has ended.

    An unknown person is ignored: so nobody learns by blocking who exists, and who is blocked by
    somebody may block them too. Raises UnknownPerson, or ValidationError if both are the same.
    """
    if person_id == other_id:
        raise ValidationError({"detail": "You cannot block yourself."})
    with transaction.atomic():
        if other_id not in lock(person_id, other_id):
            return []
        pair = [Block(person_id=person_id, other_id=other_id)]
        Block.objects.bulk_create(pair, ignore_conflicts=True)
        return end_locked(both_ways(person_id, other_id))


def unblock(person_id: int, other_id: int) -> None:
    """Take a block back, if there is one. What it ended does not return."""
    Block.objects.filter(person_id=person_id, other_id=other_id).delete()


def unblocked(rows: QuerySet[Row], viewer_id: int, field: str) -> QuerySet[Row]:
    """Return the rows whose field names nobody that blocked the viewer, or that they blocked."""
    # Django would take longer to build this condition than the database to find the rows.
    condition = UNBLOCKED.format(f"{rows.model._meta.db_table}.{field}")
    return rows.extra(where=[condition], params=[viewer_id, viewer_id])  # noqa: S610
