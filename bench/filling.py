"""Full timelines: bytes per entry, and how fast pages are read."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np

from bench.contents import begin, empty, stored_bytes
from bench.engine import Engine, Timed, make_posts
from bench.graphs import SEED, fillers
from feed.recipients import Ids
from feed.selectors import read_timeline
from feed.timeline import read_page

POSTS = 1_100
"""More than any store keeps of a timeline."""
BATCH = 25
AFFORDABLE_S = 15.0
PAGE = 20
DEEP = 700
READS_S = 0.5


def fill(engine: Engine, people: int) -> tuple[Ids, float | None]:
    """Fill the timelines of a few people, or of many where the store is quick enough.

    Return the owners, and the bytes per entry (None if unknown).
    """
    prepared = [
        (filler, make_posts(np.repeat(filler.author_id, POSTS))) for filler in fillers(people)
    ]
    before = stored_bytes(engine.timeline)
    for filler, posts in prepared:
        each = len(filler.owner_ids)
        if engine.expected_s(POSTS * each) > AFFORDABLE_S:
            break
        owner_ids = filler.owner_ids
        empty(engine.timeline)
        begin(engine.timeline, owner_ids)
        engine.deliver(posts, BATCH, each=each)
    after = stored_bytes(engine.timeline)
    if before is None or after is None:
        return owner_ids, None
    entries = sum(len(engine.timeline.members(owner_id)) for owner_id in owner_ids.tolist())
    return owner_ids, (after - before) / entries


def reads(engine: Engine, owner_ids: Ids) -> Iterator[dict[str, Any]]:
    """Read pages of these timelines; yield what was read, how often, and the seconds."""
    timeline = engine.timeline
    deep = read_page(timeline, int(owner_ids[0]), limit=DEEP).ids[-1]
    ways: dict[str, Callable[[int], Any]] = {
        "first page": lambda owner_id: read_page(timeline, owner_id, limit=PAGE),
        "deep page": lambda owner_id: read_page(timeline, owner_id, before=deep, limit=PAGE),
        "hydrated": lambda owner_id: read_timeline(owner_id=owner_id, before=None, limit=PAGE),
    }
    shuffled = np.random.default_rng(SEED).permutation(owner_ids).tolist()
    for name, read in ways.items():
        yield {"read": name, **_time_reads(read, shuffled)}


def _time_reads(read: Callable[[int], Any], owner_ids: Sequence[int]) -> dict[str, Any]:
    """Read every timeline once to warm up, and then for about READS_S."""
    started = time.perf_counter()
    for owner_id in owner_ids:
        read(owner_id)
    warm_up_s = time.perf_counter() - started
    count = math.ceil(READS_S / warm_up_s * len(owner_ids))
    turns = list(islice(cycle(owner_ids), count))
    with Timed() as timed:
        for owner_id in turns:
            read(owner_id)
    return {"reads": count, "wall_s": timed.wall_s, "client_s": timed.client_s}
