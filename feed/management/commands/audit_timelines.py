import csv
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from feed.audit import AcceptedPost, Audit, Shown, Stored, audit
from feed.timeline_stores import get_timeline_store


class Command(BaseCommand):
    help = "Compare every timeline with the posts due in it; exit status 1 unless they agree."

    def add_arguments(self, parser: ArgumentParser) -> None:
        accepted = "CSV of accepted posts (id,author,created_at), as the load generator writes it"
        parser.add_argument("--accepted", type=Path, metavar="FILE", help=accepted)
        everything = "read every feed to its end, as readers do, beyond what the store keeps"
        parser.add_argument("--all", action="store_true", help=everything)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        accepted = list(read_accepted(options["accepted"])) if options["accepted"] else []
        store, found, view = get_timeline_store(), Audit(), Shown if options["all"] else Stored
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("timelines", total=1.0)
            for done, found in audit(store, accepted, view):  # noqa: B007
                progress.update(bar, completed=done)
        self.stdout.write(json.dumps(found.as_dict()) if options["json"] else as_text(found))
        if not found.ok and not store.is_healing:
            self.stderr.write("this store doesn't heal: what was lost or cut off stays missing")
        if not found.ok:
            sys.exit(1)


def read_accepted(path: Path) -> Iterator[AcceptedPost]:
    """Read posts as clients saw them. Raises CommandError for any other file."""
    try:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                created_at = datetime.fromisoformat(row["created_at"])
                yield AcceptedPost(int(row["id"]), int(row["author"]), created_at)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise CommandError(f"{path} is not a list of accepted posts: {error!r}") from error


def as_text(found: Audit) -> str:
    lines = [
        f"{found.posts} posts, {found.expected} deliveries expected: "
        f"{found.missing} missing, {found.duplicated} duplicated, {found.unexpected} unexpected; "
        f"{found.left} left to the database, {found.merged} merged when read, "
        f"{found.absent} timelines absent"
    ]
    for kind, examples in found.examples.items():
        lines += [
            f"  {kind}: post {post_id} of person {owner_id}" for owner_id, post_id in examples
        ]
    return "\n".join([*lines, "clean" if found.ok else "NOT CLEAN"])
