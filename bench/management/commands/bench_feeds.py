from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from accounts.authentication import access_tokens
from bench.contents import empty
from bench.engine import Engine
from bench.filling import fill
from bench.graphs import fillers, numbers
from bench.json_lines import emit
from feed.timeline_stores import get_timeline_store

READERS = 50


class Command(BaseCommand):
    help = "Fill timelines of people of seed_bench, and tell access tokens of some: JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--people", type=numbers, default=[1000])

    def handle(self, *args: Any, people: list[int], **options: Any) -> None:
        engine = Engine(get_timeline_store())
        empty(engine.timeline)
        owner_ids, _ = fill(engine, fillers(max(people)))
        readers = owner_ids[:READERS].tolist()
        emit("readers", tokens=[token for _, token in access_tokens(readers)])
