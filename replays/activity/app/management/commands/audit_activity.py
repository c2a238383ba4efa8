import json
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from replays.activity.app.audit import compared_answers


class Command(BaseCommand):
    help = (
        "Compare the answers of ACTIVITY_QUERIES to random people about random days with those "
        "of the reference; exit status 1 unless they agree."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--within-s", type=float, default=60, help="time limit in seconds")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        stop_at = time.monotonic() + options["within_s"]
        compared = wrong = 0
        for is_right in compared_answers():
            compared += 1
            wrong += not is_right
            if time.monotonic() > stop_at:
                break
        found = {"compared": compared, "wrong_answers": wrong}
        text = f"{compared} answers compared, {wrong} wrong"
        self.stdout.write(json.dumps(found) if options["json"] else text)
        if wrong:
            sys.exit(1)
