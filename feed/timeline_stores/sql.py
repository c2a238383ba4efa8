from typing import Any, ClassVar

from django.db.models import Model

from feed.models import TimelineEntry
from feed.timeline_stores.base import TimelineStore


class SQLStore(TimelineStore):
    """Timelines in a table of the service's own database."""

    is_transactional = True
    model: ClassVar[type[Model]]

    def clear(self) -> None:
        rows: Any = self.model._default_manager
        rows.all().delete()


class RowStore(SQLStore):
    """Timelines with a row for each delivery."""

    model: ClassVar[type[TimelineEntry]]

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        entries = self.model.objects.filter(owner_id=owner_id)
        if before is not None:
            entries = entries.filter(post_id__lt=before)
        return list(entries.order_by("-post_id").values_list("post_id", flat=True)[:limit])

    def members(self, owner_id: int) -> list[int]:
        return list(self.model.objects.filter(owner_id=owner_id).values_list("post_id", flat=True))
