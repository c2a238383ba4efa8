import csv
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.graphs import OPTIONS, add_arguments, friendships


class Command(BaseCommand):
    help = "Print the friendships that seed_people writes, in both directions, without a database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        edges = friendships(**{name: options[name] for name in OPTIONS})
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("person_id", "friend_id"))
        rows.writerows(edges.tolist())
