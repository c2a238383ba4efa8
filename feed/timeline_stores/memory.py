from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from feed.timeline_stores.base import Held
from feed.timeline_stores.locked import LockedStore
from feed.timeline_stores.timeline import Timeline


class Memory(LockedStore):
    """Timelines in this process: for tests."""

    is_shared = False

    def __init__(self, alias: str, *, capacity: int = 800) -> None:
        super().__init__(alias, capacity=capacity)
        self._timelines: dict[int, Timeline] = {}
        self._lock = Lock()

    @contextmanager
    def locked(self, owner_ids: Sequence[int]) -> Iterator[dict[int, Timeline]]:
        with self._lock:
            found = {it: self._timelines[it] for it in owner_ids if it in self._timelines}
            yield found
            self._timelines |= found

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        with self._lock:
            return super().read(owner_id, before=before, limit=limit)

    def get(self, owner_id: int) -> Timeline | None:
        return self._timelines.get(owner_id)

    def discard(self, owner_id: int) -> None:
        with self._lock:
            self._timelines.pop(owner_id, None)

    def clear(self) -> None:
        with self._lock:
            self._timelines.clear()
