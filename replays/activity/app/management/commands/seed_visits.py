from argparse import ArgumentParser
from datetime import date
from typing import Any

from accounts.models import Person
from db.seed_command import SeedCommand
from replays.activity.app.queries import get_queries
from replays.activity.app.seeding import LAST_SEEDED, seed_visits

EACH = 2_000


class Command(SeedCommand):
    help = "Write a log of everybody's visits into the empty table of ACTIVITY_QUERIES."

    def add_arguments(self, parser: ArgumentParser) -> None:
        until = "the last day of the six months"
        rows = f"default: {EACH:,} per person"
        parser.add_argument("--rows", type=int, help=rows)
        parser.add_argument("--until", type=date.fromisoformat, default=LAST_SEEDED, help=until)
        parser.add_argument("--seed", type=int, default=7, help="random seed of the visits")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = options["rows"] or EACH * Person.objects.count()
        logs = seed_visits(
            queries=get_queries(), rows=rows, until=options["until"], seed=options["seed"]
        )
        self.write("logs", logs)
