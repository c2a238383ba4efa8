import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from accounts.authentication import access_tokens
from accounts.graphs import OPTIONS, add_arguments
from accounts.seeding import seed_people
from db.seed_command import SeedCommand


class Command(SeedCommand):
    help = "Write people and who reads whom (FEED_EDGES) for the load into an empty database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)
        parser.add_argument("--password", help="password of every person (default: no log-in)")
        parser.add_argument("--tokens", type=Path, metavar="FILE", help="also write access tokens")

    def handle(self, *args: Any, **options: Any) -> None:
        graph = {name: options[name] for name in OPTIONS}
        self.write("edges", seed_people(password=options["password"], **graph))
        if options["tokens"]:
            write_tokens(options["tokens"], options["people"])


def write_tokens(path: Path, people: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o600)  # its reader can act as anybody
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("person_id", "token"))
        rows.writerows(access_tokens(range(1, people + 1)))
