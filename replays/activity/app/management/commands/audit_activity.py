import json
import sys
import time
from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management import BaseCommand

from replays.activity.app.audit import Findings, audit
from replays.activity.app.seeding import LAST_SEEDED


class Command(BaseCommand):
    help = (
        "Compare the answers of ACTIVITY_QUERIES to random people about random days with those "
        "of the reference; exit status 1 unless they agree."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--people", type=int, default=50)
        parser.add_argument("--within-s", type=float, default=60, help="time limit in seconds")
        until = "the last day of the log"
        parser.add_argument("--until", type=date.fromisoformat, default=LAST_SEEDED, help=until)
        parser.add_argument("--seed", type=int, default=7, help="random seed of the questions")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        stop_at = time.monotonic() + options["within_s"]
        found = Findings()
        wanted = {name: options[name] for name in ("people", "until", "seed")}
        for found in audit(**wanted):  # noqa: B007
            if time.monotonic() > stop_at:
                break
        text = f"{found.compared} answers compared, {found.wrong_answers} wrong"
        self.stdout.write(json.dumps(found._asdict()) if options["json"] else text)
        if not found.ok:
            sys.exit(1)
