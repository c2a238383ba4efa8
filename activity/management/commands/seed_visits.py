from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.progress import Progress

from accounts.models import Person
from activity.queries import get_queries
from activity.seeding import seed_visits

EACH = 2_000


class Command(BaseCommand):
    help = "Write a log of everybody's visits into the empty table that ACTIVITY_QUERIES asks."

    def add_arguments(self, parser: ArgumentParser) -> None:
        until = "the last day of the six months"
        rows = f"default: {EACH:,} a person"
        parser.add_argument("--rows", type=int, help=rows)
        parser.add_argument(
            "--until", type=date.fromisoformat, default=date(2025, 12, 31), help=until
        )
        parser.add_argument("--seed", type=int, default=7, help="of the random visits")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = options["rows"] or EACH * Person.objects.count()
        logs = seed_visits(
            table=get_queries().table, rows=rows, until=options["until"], seed=options["seed"]
        )
        try:
            with Progress() as progress:
                bar = progress.add_task("logs", total=1.0)
                for done in logs:
                    progress.update(bar, completed=done)
        except ValueError as error:
            raise CommandError(str(error)) from error
