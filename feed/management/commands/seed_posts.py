from argparse import ArgumentParser
from typing import Any

from db.seed_command import SeedCommand
from feed.seeding.posts import seed_posts


class Command(SeedCommand):
    help = "Write posts with past dates for the seeded people, and deliver them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--each", type=int, default=100, help="posts per person, on average")
        parser.add_argument("--days", type=int, default=365, help="days over which they are spread")
        parser.add_argument("--seed", type=int, default=7, help="random seed of authors and texts")

    def handle(self, *args: Any, each: int, days: int, seed: int, **options: Any) -> None:
        self.write("posts", seed_posts(each=each, days=days, seed=seed))
