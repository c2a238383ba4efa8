from argparse import ArgumentParser
from typing import Any

from db.seed_command import SeedCommand
from replays.browse.app.listings import Aggregate, get_listing
from replays.browse.app.seeding import drop_index_of_counts, seed_likes


class Command(SeedCommand):
    help = "Write posts and random likes for the load; after seed_people, before any post."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--posts", type=int, default=10_000)
        parser.add_argument("--likes", type=int, default=48_000)
        parser.add_argument(
            "--as-published",
            action="store_true",
            help="drop the index of the like counts, unless the listing reads them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        shares = seed_likes(posts=options["posts"], likes=options["likes"])
        self.write("posts and likes", shares)
        if options["as_published"] and isinstance(get_listing(), Aggregate):
            drop_index_of_counts()
