import csv
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db.models import Exists, OuterRef, QuerySet

from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import DELETED, Membership, Person, Profile


class Command(BaseCommand):
    help = "Find half-made people and lost sign-ups; exit status 1 if there are any."

    def add_arguments(self, parser: ArgumentParser) -> None:
        accepted = "CSV (id,username) of sign-ups answered with 201, as Locust writes it"
        parser.add_argument("--accepted", type=Path, metavar="FILE", help=accepted)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        accepted = list(read_accepted(options["accepted"])) if options["accepted"] else []
        counts = {
            "people": Person.objects.count(),
            "half_made": half_made().count(),
            "lost": len(lost(accepted)),
        }
        ok = not (counts["half_made"] or counts["lost"])
        self.stdout.write(json.dumps(counts | {"ok": ok}) if options["json"] else as_text(counts))
        if not ok:
            sys.exit(1)


def half_made() -> QuerySet[Person]:
    """Return the people without a profile or without the membership of the public group."""
    person = OuterRef("id")
    return Person.objects.exclude(username__startswith=DELETED).exclude(
        Exists(Profile.objects.filter(person_id=person)),
        Exists(Membership.objects.filter(person_id=person, group_id=PUBLIC_GROUP_ID)),
    )


def lost(accepted: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the accepted sign-ups (id, username) whose person does not exist."""
    people = set(Person.objects.values_list("id", "username"))
    return [person for person in accepted if person not in people]


def read_accepted(path: Path) -> Iterator[tuple[int, str]]:
    """Read the people whose sign-up was answered with 201. Raises CommandError."""
    try:
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                yield int(row["id"]), row["username"]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise CommandError(f"{path} is not a list of sign-ups: {error!r}") from error


def as_text(counts: dict[str, int]) -> str:
    return "{people:,} people: {half_made:,} half made; {lost:,} sign-ups lost".format(**counts)
