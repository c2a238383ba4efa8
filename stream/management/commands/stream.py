"""Serve GET /v1/feed/stream."""

import resource
import socket
from typing import Any

import uvicorn
from django.core.management.base import BaseCommand, CommandError, CommandParser

from stream.app import application
from stream.hub import Hub

SEND_BUFFER = 64 * 1024
"""Bytes that wait in the kernel for a client."""
UNREAD_MS = 20_000
"""A client that takes nothing for so long, or has vanished, loses its connection."""
ENDS_WITHIN_S = 5


class Command(BaseCommand):
    help = "Serve GET /v1/feed/stream: server-sent events with the news of one's feed."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8001", metavar="HOST:PORT")
        parser.add_argument("--most", type=int, default=10_000, help="streams at a time")

    def handle(self, *args: Any, bind: str, most: int, **options: Any) -> None:
        hub = Hub(most=most, is_stopping=lambda: server.should_exit)
        config = uvicorn.Config(
            application(hub),
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=ENDS_WITHIN_S,
        )
        server = uvicorn.Server(config)
        _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
        server.run(sockets=[_listen(bind)])


def _listen(bind: str) -> socket.socket:
    """Return a socket whose connections hold little for a client, and not for long."""
    address, _, port = bind.rpartition(":")
    try:
        listening = socket.create_server((address, int(port)), backlog=4096)
    except (OSError, ValueError, OverflowError) as error:
        raise CommandError(f"can't serve on {bind}: {error}") from error
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
    return listening
