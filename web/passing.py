"""Passes connections from the workers that serve short requests to slow workers."""

from mmap import mmap
from socket import AF_UNIX, SOCK_SEQPACKET, recv_fds, send_fds, socket, socketpair
from struct import Struct
from time import monotonic

ABSENT_AFTER_S = 5
"""Seconds after which a slow worker that doesn't look for connections counts as absent."""
MOST_BYTES = 256 * 1024
"""More than a request of the largest head and body, and what was read behind it."""
SECONDS = Struct("d")


class Full(Exception):
    """Too many connections wait for a slow worker."""


class Passing:
    """A queue of connections and their received bytes, between the processes that inherit it.

    The process that creates it keeps it open, so that nothing is lost when a worker ends.
    """

    def __init__(self) -> None:
        self._sender, self.receiver = socketpair(AF_UNIX, SOCK_SEQPACKET)
        self._sender.setblocking(False)
        self.receiver.setblocking(False)
        self._beat = mmap(-1, SECONDS.size)

    def attend(self) -> None:
        """Note that a slow worker looks for connections now."""
        SECONDS.pack_into(self._beat, 0, monotonic())

    def is_attended(self) -> bool:
        return bool(SECONDS.unpack_from(self._beat)[0] > monotonic() - ABSENT_AFTER_S)

    def send(self, client: socket, received: bytes) -> None:
        """Queue a connection, which the caller can close then. Raises Full, or OSError."""
        try:
            send_fds(self._sender, [received], [client.fileno()])
        except BlockingIOError:
            raise Full from None

    def receive(self) -> tuple[socket, bytes] | None:
        """Return the next connection and its received bytes; None if there is none."""
        try:
            received, descriptors, _, _ = recv_fds(self.receiver, MOST_BYTES, 1)
        except BlockingIOError:
            return None
        return (socket(fileno=descriptors[0]), received) if descriptors else None
