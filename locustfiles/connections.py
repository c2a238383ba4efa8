"""Keep-alive connections of a load generator that does little work per request.

One thread with plain sockets: it offers several thousand requests per second on a part of a core,
where Locust needs more than one (docs/decisions/0049). It knows what it needs of HTTP: answers
with a Content-Length.
"""

import resource
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import cycle
from select import EPOLLIN, EPOLLOUT, epoll
from typing import NamedTuple

RECEIVED_AT_ONCE = 64 * 1024
LEAST = 100
"""Connections that are opened in any case, so that all processes of the service have some."""
SENT_BETWEEN_ANSWERS = 8
"""Requests that a generator that is late sends before it takes answers again."""
OTHER_FILES = 50
IP_BIND_ADDRESS_NO_PORT = 24
"""Of Linux: the port is chosen when it is known whereto; Python 3.11 has no name for it."""
LOCAL_SOURCES = [f"127.0.0.{number}" for number in range(2, 66)]
"""Of connections to this machine: with one, the kernel searches for a free port for 0.6 ms."""
END_OF_HEAD = b"\r\n\r\n"
TIMED_OUT, LOST, DROPPED = "client time-out", "connection lost", "dropped: too many unanswered"


class Answer(NamedTuple):
    status: int
    head: bytes
    """In lower case."""
    body: bytes


class Request(NamedTuple):
    """A request of the load, with all its bytes."""

    method: str
    name: str
    """Route, as in requests.csv."""
    data: bytes
    fault_of: Callable[[Answer], str]
    """Returns what is wrong with an answer; empty if it succeeded."""
    follow: Callable[[Answer], "Request | None"] = lambda answer: None
    """Returns what its client asks for next, if it succeeded."""


Schedule = Iterable[tuple[float, Request]]
"""Requests with the Unix times when they are due, in that order."""
Done = Callable[[Request, float, Answer | None, str], object]
"""Called with a request, the Unix time when it was due, its answer, and what is wrong with that or
why there is none; empty if it succeeded."""


class Connection:
    """A connection, and the request that waits on it for an answer."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.received = b""
        self.unsent = b""
        self.is_writing = False
        """Whether the rest of a request waits until it can be sent."""
        self.waiting: tuple[Request, float] | None = None
        """The request, and when it was due; None while the connection is idle."""

    @property
    def is_open(self) -> bool:
        return self.sock.fileno() >= 0

    def answer(self) -> Answer | None:
        """Return what was received if it is a whole answer."""
        head_end = self.received.find(END_OF_HEAD)
        if head_end < 0:
            return None
        head = self.received[:head_end].lower()
        _, _, length = head.partition(b"\r\ncontent-length:")
        end = head_end + len(END_OF_HEAD) + int(length.split(b"\r\n", 1)[0] or 0)
        if len(self.received) < end:
            return None
        return Answer(int(head[9:12]), head, self.received[head_end + len(END_OF_HEAD) : end])


class Connections:
    """Sends each request on the connection that has been idle for longest, or on a new one."""

    def __init__(self, address: tuple[str, int], done: Done, *, most: int, timeout_s: float):
        """``most``: connections; a request that finds all of them busy is dropped."""
        self._address, self._done, self._timeout_s = address, done, timeout_s
        self._most = _allowed(most)
        is_local = address[0].startswith("127.")
        self._sources = cycle(LOCAL_SOURCES if is_local else [""])
        self._epoll = epoll()
        self._all: dict[int, Connection] = {}
        self._idle: deque[Connection] = deque()
        self._sent: deque[tuple[float, Connection, object]] = deque()
        """(deadline, connection, what waited on it), also of requests that were answered."""
        self.busy = 0

    def send(self, request: Request, due: float) -> None:
        connection = self._free()
        if connection is None:
            self._done(request, due, None, DROPPED)
            return
        self.busy += 1
        connection.waiting, connection.unsent = (request, due), request.data
        self._sent.append((time.time() + self._timeout_s, connection, connection.waiting))
        self._write(connection)

    def offer(self, schedule: Schedule) -> list[float]:
        """Send requests when they are due; return by how many seconds each was sent late."""
        late_s: list[float] = []
        for due, request in schedule:
            self.wait_until(due)
            late_s.append(time.time() - due)
            self.send(request, due)
            if len(late_s) % SENT_BETWEEN_ANSWERS == 0:
                self.wait(0)
        return late_s

    def wait_until(self, at: float) -> None:
        while (now := time.time()) < at:
            self.wait(at - now)

    def wait(self, seconds: float) -> None:
        """Take answers for up to so long, in steps of a millisecond."""
        for number, event in self._epoll.poll(max(0.0, seconds)):
            connection = self._all.get(number)
            if connection is None:
                continue
            if event & EPOLLOUT:
                self._write(connection)
            if event & ~EPOLLOUT and connection.is_open:
                self._read(connection)
        self._end_late_ones()

    def close(self) -> None:
        for connection in list(self._all.values()):
            self._discard(connection, LOST)
        self._epoll.close()

    def _free(self) -> Connection | None:
        while self._idle and len(self._all) >= min(LEAST, self._most):
            connection = self._idle.popleft()
            if connection.is_open:  # else the server has closed it
                return connection
        return self._open() if len(self._all) < self._most else None

    def _open(self) -> Connection:
        sock = socket.socket()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        sock.bind((next(self._sources), 0))
        with suppress(BlockingIOError):
            sock.connect(self._address)
        self._epoll.register(sock, EPOLLIN)
        connection = self._all[sock.fileno()] = Connection(sock)
        return connection

    def _write(self, connection: Connection) -> None:
        try:
            sent = connection.sock.send(connection.unsent)
        except BlockingIOError:  # e.g. not connected yet
            sent = 0
        except OSError:
            self._discard(connection, LOST)
            return
        connection.unsent = connection.unsent[sent:]
        if bool(connection.unsent) != connection.is_writing:
            connection.is_writing = not connection.is_writing
            more = EPOLLOUT if connection.is_writing else 0
            self._epoll.modify(connection.sock, EPOLLIN | more)

    def _read(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(RECEIVED_AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._discard(connection, LOST)
            return
        connection.received += data
        answer = connection.answer()
        if answer is not None:
            self._take(connection, answer)

    def _take(self, connection: Connection, answer: Answer) -> None:
        connection.received = b""
        self._end(connection, answer)
        if b"\r\nconnection: close" in answer.head:
            self._discard(connection, LOST)
        else:
            self._idle.append(connection)

    def _end_late_ones(self) -> None:
        now = time.time()
        while self._sent and self._sent[0][0] < now:
            _, connection, waiting = self._sent.popleft()
            if connection.waiting is waiting:
                self._discard(connection, TIMED_OUT)

    def _discard(self, connection: Connection, why: str) -> None:
        del self._all[connection.sock.fileno()]
        connection.sock.close()
        self._end(connection, None, why)

    def _end(self, connection: Connection, answer: Answer | None, why: str = "") -> None:
        """Tell the outcome of the request that waits, if one does, and send what follows it."""
        if connection.waiting is None:
            return
        (request, due), connection.waiting = connection.waiting, None
        self.busy -= 1
        error = why if answer is None else request.fault_of(answer)
        self._done(request, due, answer, error)
        if answer is not None and not error and (following := request.follow(answer)):
            self.send(following, time.time())


def _allowed(connections: int) -> int:
    """Let this process open so many files, or return how many connections it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        connections = min(connections, hard - OTHER_FILES)
    if resource.RLIM_INFINITY != soft < connections + OTHER_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (connections + OTHER_FILES, hard))
    return connections
