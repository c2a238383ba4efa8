from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.progress import Progress

from feed.seed_posts import seed_posts


class Command(BaseCommand):
    help = "Write posts of the past for the seeded people, and deliver them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--each", type=int, default=100, help="posts a person, on average")
        parser.add_argument("--days", type=int, default=365, help="over which they are spread")
        parser.add_argument("--seed", type=int, default=7, help="of authors and texts")

    def handle(self, *args: Any, each: int, days: int, seed: int, **options: Any) -> None:
        try:
            with Progress() as progress:
                bar = progress.add_task("posts", total=1.0)
                for done in seed_posts(each=each, days=days, seed=seed):
                    progress.update(bar, completed=done)
        except ValueError as error:
            raise CommandError(str(error)) from error
