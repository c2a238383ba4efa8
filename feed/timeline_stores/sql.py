from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Model, OuterRef, Subquery

from accounts.ids import MAX_ID
from accounts.models import Person
from db.rows import delete_first
from feed import epochs
from feed.due import posts_due
from feed.models import Epoch, Post, TimelineEntry, TimelineFloor
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

MOST_PEOPLE, MOST_OWNERS, MOST_ROWS = 500, 10, 100
"""Timelines that are looked at for rows to remove; those that rows are removed from at once, and
how many from each."""


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
    of its friendships. Rows at or below it are never read, and are removed little by little.
    """

    model: ClassVar[type[TimelineEntry]]
    _looked_at = 0
    """The last person whose rows this process has looked at, to remove some."""

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        statement = _READ.format(table=self.model._meta.db_table)
        lowest = epochs.get_or_begin(self).floor
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
            unread = [it for it, post_id in found.items() if post_id and post_id <= ends[it]]
            for owner_id in unread[:MOST_OWNERS]:
                below = self.model.objects.filter(owner_id=owner_id, post_id__lte=ends[owner_id])
                delete_first(below, "post_id", most=MOST_ROWS)
        if not unread:
            self._looked_at = max(found, default=0) if len(found) == MOST_PEOPLE else 0
        return bool(unread)

    def rebuild(self, owner_ids: Sequence[int]) -> None:
        for owner_id in owner_ids:
            with transaction.atomic():
                self._rebuild(owner_id)

    def _rebuild(self, owner_id: int) -> None:
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
        return row
