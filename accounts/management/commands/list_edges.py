import csv
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts.graphs import OPTIONS, add_arguments, edges


class Command(BaseCommand):
    help = "Print who reads whom after seed_people, without a database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        found = edges(settings.FEED_EDGES, **{name: options[name] for name in OPTIONS})
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("author_id", "reader_id"))
        rows.writerows(found.tolist())
