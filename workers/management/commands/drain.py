from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from workers.drainer import Drainer


class Command(BaseCommand):
    help = "Deliver posts without a receipt until stopped (SIGTERM, SIGINT)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", type=int, default=100, help="posts a transaction at most")
        parser.add_argument("--idle-ms", type=float, default=5, help="between looks when idle")
        parser.add_argument("--linger-ms", type=float, default=100, help="from batch to batch")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["batch"] < 1 or options["idle_ms"] < 0 or options["linger_ms"] < 0:
            raise CommandError("--batch must be at least 1, --idle-ms and --linger-ms at least 0")
        drainer = Drainer(
            batch=options["batch"],
            idle_s=options["idle_ms"] / 1000,
            linger_s=options["linger_ms"] / 1000,
        )
        drainer.stop_on_signals()
        drainer.run()
