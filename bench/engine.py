"""A store under the bench: cells of the grid, one after the other, and their check."""

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from django.db import transaction

from bench.contents import begin, check, empty, exchanged
from bench.graphs import SEED, Graph
from bench.json_lines import Timed, emit
from bench.posts import Delivered, in_batches, make_posts
from feed.models import Post
from feed.timeline_stores.base import TimelineStore

CELL_S = 0.5
WARM_UP_S = 0.15
WARM_UP_POSTS = 500
AFFORDABLE_S = 1.0
"""A batch that takes longer is delivered once, without a warm-up."""
TOO_LONG_S = 5.0
"""A batch that would take longer is left out."""
MOST_POSTS_PER_S = 40_000


class Engine:
    """Delivers into a store, and knows what it delivered and at which rate."""

    def __init__(self, timeline: TimelineStore, cell_s: float = CELL_S) -> None:
        self.timeline = timeline
        self.cell_s = cell_s
        self.delivered = Delivered()
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
        count = 1 if expected_s > AFFORDABLE_S else self._batches(graph, batch)
        posts = self._posts(graph, count * batch)
        return self.deliver(posts, batch, each=graph.friends + 1)

    def deliver(self, posts: Sequence[Post], batch: int, *, each: int) -> dict[str, Any]:
        """Deliver these posts, which make ``each`` deliveries; return how many and the seconds."""
        batches = list(in_batches(posts, batch))
        before = exchanged(self.timeline)
        with Timed() as timed:
            for part in batches:
                self._deliver(part)
        after = exchanged(self.timeline)
        self.delivered.add(posts)
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
        self.delivered = Delivered()
        self._until_steady = self.timeline.steady_after()

    def _batches(self, graph: Graph, batch: int) -> int:
        """Warm up, at least until the store is steady; return how many batches fill a cell."""
        each = graph.friends + 1
        count = max(WARM_UP_POSTS, 2 * batch, math.ceil(self._until_steady / each))
        posts = self._posts(graph, count)
        until, took_s = time.perf_counter() + WARM_UP_S, math.inf
        for part in in_batches(posts, batch):
            started = time.perf_counter()
            self._deliver(part)
            took_s = min(took_s, time.perf_counter() - started)
            self.delivered.add(part)
            self._until_steady -= len(part) * each
            if time.perf_counter() > until and self._until_steady <= 0:
                break
        most = int(MOST_POSTS_PER_S * self.cell_s) // batch
        return max(2, min(math.ceil(self.cell_s / took_s), most))

    def _deliver(self, posts: Sequence[Post]) -> None:
        # As in the service, a batch is one transaction where the store has any.
        with transaction.atomic() if self.timeline.is_transactional else nullcontext():
            self.timeline.deliver(posts)

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
