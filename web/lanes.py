"""Lanes: requests of one kind wait for each other, and not for those of other lanes.

The lane is told from the first line of the received bytes, before anything is parsed
(docs/decisions/0047).
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Generic, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

from django.urls import URLPattern, URLResolver, get_resolver

from db.lanes import EXPENSIVE
from web.leaders import MOST_WAITING

PROBE, READ, WRITE, HASHING = "probe", "read", "write", "hashing"
SHORT = (PROBE, READ, WRITE)
"""Lanes of the workers that serve short requests; each is answered one request in turn."""
SLOW = (HASHING, EXPENSIVE)
"""Lanes of slow workers. A view names its lane, as ``lane``; its path has no parameters."""
THREADS = {HASHING: max(1, (os.cpu_count() or 1) // 2), EXPENSIVE: 2}
"""Threads of a slow worker, by lane."""
SAFE_METHODS = (b"GET", b"HEAD", b"OPTIONS")
SCRAPES = b"/metrics"  # answered by a middleware, so there is no view
PLAIN = re.compile(rb"/[\w/-]*")
"""A path that nobody who parses it changes."""
MOST_THREADS = {READ: MOST_WAITING, WRITE: 4}
"""While so many threads wait for servers behind the service, the lane is refused."""
STANDING = 10
"""How many times shorter the patience is while a queue has been standing."""

Item = TypeVar("Item")
Paths = Mapping[bytes, str]


class Queue(Generic[Item]):
    """Requests of a lane that wait for their turn, the oldest first.

    A queue that was empty within the last ``patience_s`` is a burst, and each of its requests may
    wait for that long. One that was not is standing: waiting longer helps nobody, so that its
    requests may wait for a tenth of that (CoDel's idea, as in "Fail at Scale", ACM Queue 13(8)).
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s or inf
        self._items: deque[tuple[float, Item]] = deque()
        self._empty_at = -inf

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item, now: float) -> None:
        if not self._items:
            self._empty_at = now
        self._items.append((now, item))

    def take(self, now: float) -> tuple[Item, bool]:
        """Return the oldest request, and whether it has waited for too long."""
        since, item = self._items.popleft()
        stands = now > self._empty_at + self._patience_s
        if not self._items:
            self._empty_at = now
        return item, now > since + (self._patience_s / STANDING if stands else self._patience_s)


def is_refused(lane: str, *, waiting: int, too_late: bool) -> bool:
    """Return whether a request whose turn has come is refused. Probes never are."""
    return lane != PROBE and (too_late or waiting >= MOST_THREADS[lane])


def lane_of(line: bytes, paths: Paths) -> str:
    """Return the lane of a request by its first line."""
    target = line.partition(b" ")[2].partition(b" ")[0]
    path = target.partition(b"?")[0]
    if not PLAIN.fullmatch(path):
        path = _plain(target)
    return paths.get(path) or short_lane_of(line)


def short_lane_of(line: bytes) -> str:
    """Return the lane of a request that no slow worker takes."""
    return READ if line.partition(b" ")[0] in SAFE_METHODS else WRITE


def known_paths() -> Paths:
    """Return the lane of each path whose view names one."""
    named = _named_lanes(get_resolver().url_patterns, "/")
    return {SCRAPES: PROBE} | {path.encode(): lane for path, lane in named}


def _named_lanes(
    patterns: Iterable[URLPattern | URLResolver], prefix: str
) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _named_lanes(pattern.url_patterns, path)
        elif lane := getattr(getattr(pattern.callback, "cls", None), "lane", None):
            yield path, lane


def _plain(target: bytes) -> bytes:
    """Return the path as gunicorn and Django understand it."""
    try:
        return unquote_to_bytes(urlsplit(target).path)
    except ValueError:
        return b""
