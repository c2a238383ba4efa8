from typing import ClassVar

from feed.models import TimelineEntry
from feed.timelines.base import Timeline


class SQLTimeline(Timeline):
    """Timelines as rows of a table in the service's own database."""

    transactional = True
    model: ClassVar[type[TimelineEntry]]

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        entries = self.model.objects.filter(owner_id=owner_id)
        if before is not None:
            entries = entries.filter(post_id__lt=before)
        return list(entries.order_by("-post_id").values_list("post_id", flat=True)[:limit])

    def members(self, owner_id: int) -> list[int]:
        return list(self.model.objects.filter(owner_id=owner_id).values_list("post_id", flat=True))

    def clear(self) -> None:
        self.model.objects.all().delete()
