import time
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from accounts.models import Person
from db.seed_command import SeedCommand
from feed import epochs
from feed.timeline import rebuild
from feed.timeline_stores import get_timeline_store

CHUNK = 100
SHARE = 0.5
"""Share of the time that is spent on rebuilding, so that the rest is left to others."""


class Command(SeedCommand):
    help = (
        "Compute timelines from the database, as far back as the store keeps them. Safe while "
        "people post and read. Prints where to go on if it is interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--person", type=int, nargs="+", help="only these (default: everyone)")
        parser.add_argument("--after", type=int, default=0, help="go on after this person's id")
        parser.add_argument("--fast", action="store_true", help="take all the time there is")

    def handle(self, *args: Any, fast: bool, **options: Any) -> None:
        store = get_timeline_store()
        if reason := epochs.reason_unusable(store):
            raise CommandError(reason)
        if not store.is_healing:
            raise CommandError(f"the store {store.alias!r} computes nothing from the database")
        people = Person.objects.filter(id__gt=options["after"]).order_by("id")
        if options["person"]:
            people = people.filter(id__in=options["person"])
        ids = list(people.values_list("id", flat=True))
        self._done = options["after"]
        try:
            self.write("timelines", self._rebuild(ids, 1.0 if fast else SHARE))
        except KeyboardInterrupt:
            raise CommandError(f"interrupted; go on with --after {self._done}") from None

    def _rebuild(self, ids: list[int], share: float) -> Iterator[float]:
        for start in range(0, len(ids), CHUNK):
            chunk, started = ids[start : start + CHUNK], time.monotonic()
            rebuild(get_timeline_store(), chunk)
            self._done = chunk[-1]
            time.sleep((time.monotonic() - started) * (1 / share - 1))
            yield (start + len(chunk)) / len(ids)
