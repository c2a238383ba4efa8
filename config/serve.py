"""Serves on the app server that WEB_SERVER names: python -m config.serve --bind HOST:PORT."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from socket import create_server

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from config import settings
from config.starting import prepare

ENDS_WITHIN_S = 10
"""Seconds that requests have when it stops or restarts; gunicorn's graceful_timeout."""
HEAD_WITHIN_S = 10
"""Seconds for the head of a request to arrive."""
MOST_CONNECTIONS = 5000
"""Per process: Granian doesn't accept a connection beyond that, and clients wait for nothing."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bind", default="127.0.0.1:8000", metavar="HOST:PORT")
    options.add_argument("--share", action="store_true", help="others may serve on this port too")
    chosen = options.parse_args()
    if not chosen.share:
        refuse_taken(chosen.bind)
    SERVERS[settings.WEB_SERVER](chosen.bind)


def refuse_taken(bind: str) -> None:
    """Exit if the address can't be bound: both servers would share it (SO_REUSEPORT)."""
    address, _, port = bind.rpartition(":")
    try:
        create_server((address, int(port))).close()
    except (OSError, ValueError, OverflowError) as error:
        sys.exit(f"can't serve on {bind}: {error}")


def serve_on_gunicorn(bind: str) -> None:
    command = ("-m", "gunicorn", "--config=config/gunicorn.py", "--reuse-port", f"--bind={bind}")
    os.execv(sys.executable, [sys.executable, *command])  # noqa: S606  nothing to expand


def serve_on_granian(bind: str) -> None:
    address, _, port = bind.rpartition(":")
    server = Granian(
        "config.wsgi:application",
        address=address,
        port=int(port),
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        websockets=False,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_WITHIN_S * 1000),
        workers=settings.WEB_WORKERS,
        blocking_threads=settings.WEB_THREADS,
        backlog=2 * MOST_CONNECTIONS,
        backpressure=MOST_CONNECTIONS,
        log_access=settings.LOG_REQUESTS,
        respawn_failed_workers=True,
        workers_kill_timeout=ENDS_WITHIN_S,
    )
    server.on_startup(prepare)
    server.serve()


SERVERS: Mapping[str, Callable[[str], None]] = {
    "gunicorn": serve_on_gunicorn,
    "granian": serve_on_granian,
}

if __name__ == "__main__":
    main()
