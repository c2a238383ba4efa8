import gc
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from accounts.authentication import access_tokens
from bench.contents import empty
from bench.engine import CELL_S, Engine, emit, run_graph
from bench.filling import fill, reads
from bench.graphs import add_graphs, graphs, numbers
from feed.timeline_stores import get_timeline_store
from runtime.allocator import keep_freed_memory


class Command(BaseCommand):
    help = (
        "Time the timeline store, alone, on the people of seed_bench: one JSON object a line. "
        "Exit status 1 if a timeline is not what was delivered. Empties the store."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_graphs(parser)
        parser.add_argument("--batch", type=numbers, default=[25, 500], help="posts per batch")
        parser.add_argument("--seconds", type=float, default=CELL_S, help="per cell")
        readers = "only fill timelines, and emit the access tokens of so many of their owners"
        parser.add_argument("--readers", type=int, help=readers)

    def handle(
        self,
        *args: Any,
        people: list[int],
        friends: list[int],
        batch: list[int],
        seconds: float,
        readers: int | None,
        **options: Any,
    ) -> None:
        keep_freed_memory()  # as the drainer does
        engine = Engine(get_timeline_store(), seconds)
        empty(engine.timeline)
        owner_ids, bytes_per_entry = fill(engine, max(people))
        if readers:
            tokens = access_tokens(owner_ids[:readers].tolist())
            emit("readers", tokens=[token for _, token in tokens])
            return
        gc.collect()
        gc.freeze()  # else each collection would go through what was loaded so far
        emit("filled", timelines=len(owner_ids), bytes_per_entry=bytes_per_entry)
        for figures in reads(engine, owner_ids):
            emit("read", **figures)
        right = [run_graph(engine, graph, batch) for graph in graphs(people, friends)]
        empty(engine.timeline)
        if not all(right):
            sys.exit(1)
