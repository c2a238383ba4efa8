import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from metrics.scrape import serve_if_configured
from workers.messages import Messages
from workers.queues import get_queue

LOOK_S = 0.2


class Command(BaseCommand):
    help = (
        "Run the workers of the queue until stopped (SIGTERM, SIGINT), and send them the sweep. "
        "Ends when one of them ends, so let something start it again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        cores = os.cpu_count() or 1
        parser.add_argument(
            "--processes", type=int, default=cores, help="that carry out tasks (default: cores)"
        )

    def handle(self, *args: Any, processes: int, **options: Any) -> None:
        if processes < 1:
            raise CommandError("--processes must be at least 1")
        stopping, ringer, swept_at = Event(), Messages(), 0.0
        workers: list[subprocess.Popen[bytes]] = []

        def stop(*_: Any) -> None:
            if not stopping.is_set():  # some take a second SIGTERM as an order to drop their tasks
                stopping.set()
                for worker in workers:
                    worker.terminate()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        path = os.pathsep.join(filter(None, sys.path))  # they import what this process can
        env = {**os.environ, "PYTHONPATH": path}
        workers.extend(
            subprocess.Popen(command, env=env)
            for command in get_queue().commands(processes)
            if not stopping.is_set()
        )
        serve_if_configured()
        while not stopping.is_set():
            if any(worker.poll() is not None for worker in workers):
                stop()
                raise CommandError(f"a worker ended: {[worker.wait() for worker in workers]}")
            if time.monotonic() >= swept_at + settings.SWEEP_S:
                ringer.send("sweep", time.time())
                swept_at = time.monotonic()
            stopping.wait(LOOK_S)
        for worker in workers:
            worker.wait()
