from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store
from metrics.scrape import serve_if_configured
from runtime.allocator import keep_freed_memory
from workers.drainer import Drainer


class Command(BaseCommand):
    help = "Deliver posts without a receipt until stopped (SIGTERM, SIGINT)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        idle = "between polls when idle (default: 5, or a tenth of the strategy's grace period)"
        linger = "from batch to batch (default: the store's linger_ms)"
        parser.add_argument("--batch", type=int, default=250, help="most posts per transaction")
        parser.add_argument("--idle-ms", type=float, help=idle)
        parser.add_argument("--linger-ms", type=float, help=linger)

    def handle(self, *args: Any, batch: int, **options: Any) -> None:
        idle_ms, linger_ms = options["idle_ms"], options["linger_ms"]
        if idle_ms is None:
            idle_ms = max(5, get_strategy().grace_s * 100)
        if linger_ms is None:
            linger_ms = get_timeline_store().linger_ms
        if batch < 1 or idle_ms < 0 or linger_ms < 0:
            raise CommandError("--batch must be at least 1, --idle-ms and --linger-ms at least 0")
        drainer = Drainer(batch=batch, idle_s=idle_ms / 1000, linger_s=linger_ms / 1000)
        drainer.stop_on_signals()
        keep_freed_memory()
        serve_if_configured()
        drainer.run()
