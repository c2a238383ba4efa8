"""A store under the bench: cells of the grid, one after the other, and their check.

Measurements are JSON lines on standard output, which the laboratory reads.
"""

import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from bench.contents import begin, check, empty, exchanged
from bench.graphs import SEED, Graph
from db.rows import insert_rows
from feed.models import Post
from feed.recipients import Ids
from feed.timeline_stores.base import TimelineStore

BODY = "What people write is about this long, as far as anybody has counted; a picture is a link."
BREATH_S = 0.03
"""Time for the laboratory to read the CPU clocks of the server's processes."""
CELL_S = 0.5
WARM_UP_S = 0.15
WARM_UP_POSTS = 500
AFFORDABLE_S = 1.0
"""A batch that takes longer is delivered once, without a warm-up."""
TOO_LONG_S = 5.0
"""A batch that would take longer is left out."""
MOST_POSTS_PER_S = 40_000


def emit(kind: str, **figures: Any) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **figures}) + "\n")
    sys.stdout.flush()


class Timed:
    """Measures the wall time and this process's CPU time of a block; emits that it begins."""

    wall_s: float
    client_s: float

    def __enter__(self) -> Self:
        emit("begin")
        time.sleep(BREATH_S)
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *args: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.client_s = time.process_time() - self._cpu


class Engine:
    """Delivers into a store, and knows what it delivered and at which rate."""

    def __init__(self, timeline: TimelineStore, cell_s: float = CELL_S) -> None:
        self.timeline = timeline
        self.cell_s = cell_s
        self.delivered: list[tuple[int, int]] = []
        """(post id, author id) since the store was empty, oldest first."""
        self.rate: float | None = None
        """Deliveries/s, the latest; None before the first."""
        self._until_steady = 0
        self._random = np.random.default_rng(SEED)

    def cell(self, graph: Graph, batch: int) -> dict[str, Any]:
        """Deliver fresh batches by random posters for about ``cell_s``, after a warm-up.

        Return the deliveries and the seconds, which are None for a batch that takes too long.
        """
        expected_s = self.expected_s(batch * (graph.friends + 1))
        if expected_s > TOO_LONG_S:
            return {"deliveries": 0, "wall_s": None, "client_s": None}
        count = 1 if expected_s > AFFORDABLE_S else self._warm_up(graph, batch)
        posts = self._posts(graph, count * batch)
        return self.deliver(posts, batch, each=graph.friends + 1)

    def deliver(self, posts: Sequence[Post], batch: int, *, each: int) -> dict[str, Any]:
        """Deliver these posts, which make ``each`` deliveries; return how many and the seconds."""
        batches = list(_in_batches(posts, batch))
        before = exchanged(self.timeline)
        with Timed() as timed:
            for part in batches:
                self._deliver(part)
        after = exchanged(self.timeline)
        self._note(posts)
        deliveries = len(posts) * each
        self.rate = deliveries / timed.wall_s
        return {
            "deliveries": deliveries,
            "wall_s": timed.wall_s,
            "client_s": timed.client_s,
            "batches": len(batches),
            **{name: count - before[name] for name, count in after.items()},
        }

    def expected_s(self, deliveries: int) -> float:
        """Return how long they take at the latest rate; 0 where that isn't known."""
        return deliveries / self.rate if self.rate else 0.0

    def forget(self) -> None:
        """Take note that the store has been emptied."""
        self.delivered = []
        self._until_steady = self.timeline.steady_after()

    def _warm_up(self, graph: Graph, batch: int) -> int:
        """Warm up, at least until the store is steady; return how many batches fill a cell."""
        each = graph.friends + 1
        count = max(WARM_UP_POSTS, 2 * batch, math.ceil(self._until_steady / each))
        posts = self._posts(graph, count)
        until, took_s = time.perf_counter() + WARM_UP_S, math.inf
        for part in _in_batches(posts, batch):
            started = time.perf_counter()
            self._deliver(part)
            took_s = min(took_s, time.perf_counter() - started)
            self._note(part)
            self._until_steady -= len(part) * each
            if time.perf_counter() > until and self._until_steady <= 0:
                break
        most = int(MOST_POSTS_PER_S * self.cell_s) // batch
        return max(2, min(math.ceil(self.cell_s / took_s), most))

    def _deliver(self, posts: Sequence[Post]) -> None:
        # As in the service, a batch is one transaction where the store has any.
        with transaction.atomic() if self.timeline.is_transactional else nullcontext():
            self.timeline.deliver(posts)

    def _note(self, posts: Sequence[Post]) -> None:
        self.delivered += [(post.id, post.author_id) for post in posts]

    def _posts(self, graph: Graph, count: int) -> list[Post]:
        return make_posts(self._random.choice(graph.posters, count))


def run_graph(engine: Engine, graph: Graph, batches: Sequence[int]) -> bool:
    """Report each cell and the check; return whether all timelines were right."""
    empty(engine.timeline)
    begin(engine.timeline, np.arange(1, graph.people + 1))
    engine.forget()
    place = {"people": graph.people, "friends": graph.friends}
    for batch in sorted(batches):
        emit("cell", **place, batch=batch, **engine.cell(graph, batch))
    audit = check(engine.timeline, graph, engine.delivered)
    emit("check", **place, **audit.as_dict())
    return audit.ok


def make_posts(author_ids: Ids) -> list[Post]:
    """Write a post of each author, with ascending ids."""
    newest, now = Post.objects.aggregate(id=Max("id"))["id"] or 0, timezone.now()
    created_at = connection.ops.adapt_datetimefield_value(now)
    pairs = list(enumerate(author_ids.tolist(), start=newest + 1))
    with transaction.atomic():
        columns = ("id", "author_id", "body", "created_at", "like_count")
        insert_rows(Post, columns, [(*pair, BODY, created_at, 0) for pair in pairs])
    return [
        Post(id=post_id, author_id=author_id, body=BODY, created_at=now)
        for post_id, author_id in pairs
    ]


def _in_batches(posts: Sequence[Post], size: int) -> Iterator[Sequence[Post]]:
    for start in range(0, len(posts), size):
        yield posts[start : start + size]
