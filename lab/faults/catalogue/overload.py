"""More clients than the service can answer."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running
from launch.service import app_server, is_ready

LASTS_S = 3.0
TIMES = 60
PAUSE_S = 0.02


class Overload(Fault):
    name = "overload"
    text = (
        f"For {LASTS_S:g} s, {TIMES} times as many clients post; the limit for waiting requests "
        "is on (WEB_QUEUE_S)."
    )
    safeguard = "patience"
    at_stake = "posts sent meanwhile"

    def during(self, running: Running) -> AbstractContextManager[object]:
        return patient(running)

    def inject(self, running: Running, readers: Readers) -> int:
        clients, before = 4 * TIMES, len(running.answers)
        with readers.held_up(), running.without_clients(), running.load(clients, PAUSE_S):
            time.sleep(LASTS_S)
        return len(running.answers) - before


@contextmanager
def patient(running: Running) -> Iterator[None]:
    """Serve with the service's own limit for waiting requests."""
    service = running.service
    usual = service.variant
    service.variant = replace(usual, settings={**usual.settings, "WEB_QUEUE_S": "1"})
    serve_again(running)
    try:
        yield
    finally:
        service.variant = usual
        serve_again(running)


def serve_again(running: Running) -> None:
    """Replace the app server by one with the variant's settings."""
    service = running.service
    (env,) = service.environments
    service.stop_web()
    running.processes.start("web", app_server(service.port, service.address), env)
    running.processes.wait_until("web", partial(is_ready, service.port))
