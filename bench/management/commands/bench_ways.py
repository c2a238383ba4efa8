import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from bench.engine import Engine, run_graph
from bench.graphs import add_grid, fillers, graphs, numbers
from bench.json_lines import emit
from bench.ways import Lists, deliver_in_chunks


class Command(BaseCommand):
    help = "Time other systems' ways of delivering, on the people of seed_bench: JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("way", choices=("list", "chunked"))
        add_grid(parser)
        parser.add_argument("--at", type=numbers, default=[1000, 500], help="PEOPLE,FRIENDS")

    def handle(
        self, *args: Any, way: str, people: list[int], friends: list[int], **options: Any
    ) -> None:
        if way == "chunked":
            emit("way", **deliver_in_chunks(fillers(max(people)).usual))
            return
        at = [graph for graph in graphs(people, friends) if [*graph[:2]] == options["at"]]
        if not at:
            raise CommandError(f"--at {options['at']} is none of the graphs")
        engine = Engine(Lists("list", url=settings.REDIS_URL))
        if not run_graph(engine, at[0], options["batch"]):
            sys.exit(1)
