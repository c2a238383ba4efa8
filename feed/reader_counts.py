"""Numbers of readers who are delivered to, for counting deliveries."""

from collections.abc import Iterable

from django.db.models import Count

from feed.celebrities import deliverable
from runtime.remembered import Remembered


class ReaderCounts:
    """Numbers of readers who are delivered to, cached: counting them each time is expensive.

    So counts of deliveries may miss readers of the last ``keep_s`` seconds.
    """

    def __init__(self, keep_s: float = 60.0) -> None:
        self._counts = Remembered(dict[int, int], for_s=keep_s)

    def of(self, person_ids: Iterable[int]) -> dict[int, int]:
        """Return these numbers, of at least these persons."""
        known = self._counts.get()
        if unknown := set(person_ids) - known.keys():
            counted = deliverable().filter(author_id__in=unknown).values_list("author_id")
            known.update(dict.fromkeys(unknown, 0) | dict(counted.annotate(Count("reader_id"))))
        return known
