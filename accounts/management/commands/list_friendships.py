import csv
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.graphs import GRAPHS
from accounts.seeding import both_directions


class Command(BaseCommand):
    help = "Print the friendships that seed_people writes, in both directions, without a database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--people", type=int, default=1000)
        parser.add_argument("--friends", type=int, default=500, help="friends each (zipf: mean)")
        parser.add_argument("--graph", choices=GRAPHS, default="ring")
        parser.add_argument("--seed", type=int, default=7, help="random seed of the graph")

    def handle(self, *args: Any, **options: Any) -> None:
        edges = GRAPHS[options["graph"]](options["people"], options["friends"], options["seed"])
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("person_id", "friend_id"))
        rows.writerows(both_directions(edges).tolist())
