from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model

from accounts.ids import MAX_ID
from feed import epochs
from feed.due import posts_due
from feed.models import Post, TimelineEntry, TimelineFloor
from feed.timeline_stores.base import Held, TimelineStore

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


class SQLStore(TimelineStore):
    """Timelines in a table of the service's own database."""

    is_transactional = True
    model: ClassVar[type[Model]]

    def discard(self, owner_id: int) -> None:
        rows: Any = self.model._default_manager
        rows.filter(owner_id=owner_id).delete()

    def clear(self) -> None:
        rows: Any = self.model._default_manager
        rows.all().delete()


class RowStore(SQLStore):
    """Timelines with a row for each delivery.

    A timeline's floor is the epoch's, or a higher one in ``TimelineFloor`` since the last change
    of its friendships. Rows at or below it stay, and are never read.
    """

    model: ClassVar[type[TimelineEntry]]

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        statement = _READ.format(table=self.model._meta.db_table)
        lowest = epochs.current(self).floor
        end = MAX_ID if before is None else before
        values = {"owner": owner_id, "lowest": lowest, "before": end, "limit": limit}
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

    def rebuild(self, owner_ids: Sequence[int]) -> None:
        for owner_id in owner_ids:
            with transaction.atomic():
                self._rebuild(owner_id)

    def _rebuild(self, owner_id: int) -> None:
        """Write the rows below the floor, while none of them is being delivered."""
        floors = TimelineFloor.objects.select_for_update()  # a change waits for this row
        lowest = {"floor": epochs.current(self).floor}
        through = floors.get_or_create(owner_id=owner_id, defaults=lowest)[0].floor
        epochs.wait_for_deliveries(through)
        self.model.objects.filter(owner_id=owner_id, post_id__lte=through).delete()
        due = posts_due(owner_id).using(DEFAULT_DB_ALIAS).filter(id__lte=through).order_by("id")
        self.model.objects.bulk_create(self.entry(owner_id, post) for post in due)
        TimelineFloor.objects.filter(owner_id=owner_id).update(floor=0)

    def entry(self, owner_id: int, post: Post) -> TimelineEntry:
        """Return an unsaved row."""
        model: Any = self.model
        row: TimelineEntry = model(owner_id=owner_id, post_id=post.id)
        return row
