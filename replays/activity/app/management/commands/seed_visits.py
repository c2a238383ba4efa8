from argparse import ArgumentParser
from typing import Any

from accounts.models import Person
from db.seed_command import SeedCommand
from replays.activity.app.queries import get_queries
from replays.activity.app.seeding import seed_visits

EACH = 2_000


class Command(SeedCommand):
    help = "Write a log of everybody's visits into the empty table of ACTIVITY_QUERIES."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rows", type=int, help=f"default: {EACH:,} per person")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = options["rows"] or EACH * Person.objects.count()
        self.write("logs", seed_visits(queries=get_queries(), rows=rows))
