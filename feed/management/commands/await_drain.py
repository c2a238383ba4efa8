import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from feed.models import Post

LOOK_EVERY_S = 0.05
REPORT_EVERY_S = 1.0


class Command(BaseCommand):
    help = (
        "Wait until every post has its receipt, or until no post gets one any more; print the "
        "backlog once per second and at the end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        give_up = "without a new receipt before giving up"
        parser.add_argument("--give-up-s", type=float, default=60, help=f"seconds {give_up}")

    def handle(self, *args: Any, **options: Any) -> None:
        backlog = Post.objects.pending().count()
        changed_at = reported_at = time.monotonic()
        while backlog and time.monotonic() < changed_at + options["give_up_s"]:
            time.sleep(LOOK_EVERY_S)
            before, backlog = backlog, Post.objects.pending().count()
            if backlog != before:
                changed_at = time.monotonic()
            if time.monotonic() > reported_at + REPORT_EVERY_S:
                reported_at = time.monotonic()
                self._tell(backlog)
        self._tell(backlog)

    def _tell(self, backlog: int) -> None:
        self.stdout.write(str(backlog))
        self.stdout.flush()
