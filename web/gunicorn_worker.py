"""gunicorn's gthread worker without its threads.

It builds on parts of gunicorn that are not documented: how ThreadWorker hands connections on
(enqueue_req, handle, finish_request, on_client_socket_readable, wait_for_and_dispatch_events,
set_accept_enabled, murder_keepalived, murder_pending, run, nr_conns, keepalived_conns,
max_keepalived, poller, method_queue and its _queue), TConn's parser, the parser's unreader and its
buf, and of a request body.reader and _expected_100_continue. tests/web/test_gunicorn_private.py
fails when those change.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from resource import RLIMIT_NOFILE, getrlimit
from selectors import EVENT_READ
from socket import MSG_PEEK, SHUT_WR, socket
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import connections
from gunicorn.http import get_parser
from gunicorn.workers.gthread import TConn, ThreadWorker

from web.kept_alive import KeptAlive
from web.lanes import SHORT, SLOW, Queue, is_refused, known_paths, lane_of, short_lane_of
from web.leaders import Leaders, Relieved
from web.passing import Full, Passing
from web.received import READ_SIZE, Received
from web.refusal import refusal
from web.signals import refused

REQUEST_WITHIN_S = 10
"""Seconds for a request to arrive, from its first byte; a first request, from the connection."""
ANSWER_WITHIN_S = 2
"""Seconds until the rest of an answer must fit into the socket's send buffer."""
LEAVE_WITHIN_S = 2
"""Seconds for a client to read its last answer before the connection is closed."""
LOOK_EVERY_S = 0.02
"""Seconds of answering, after which the loop reads what has arrived meanwhile."""
NOTIFY_EVERY_S = 0.2


class LoopWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Keeps connections alive like gthread, but answers each request in its event loop.

    No thread waits for the interpreter lock, which costs a short request more than the request
    itself (docs/decisions/0009). The loop reads what has arrived and answers only complete
    requests, so a client that sends half a request blocks no other (docs/decisions/0036). While a
    request waits for a server behind this one, another thread runs the loop
    (docs/decisions/0043). Shorter waits block the process's other clients: run more of these
    processes than cores. What has arrived waits in queues, one for each lane, and slow requests go
    to another process (docs/decisions/0047).
    """

    _accepting: bool
    passing: Passing | None = None
    """Where slow requests go; None: this process answers them. Set before the worker is forked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.leaders = Leaders(super().run, self._hand_over, connections.close_all)
        self.halves: dict[TConn, float] = {}
        """Connections without a complete request → deadline; the oldest first."""
        self.leaving: dict[TConn, float] = {}
        """Connections that have had their last answer → deadline; the oldest first."""
        self.keepalived_conns: Any = KeptAlive()
        self.queues = {lane: Queue[TConn](settings.WEB_QUEUE_S) for lane in SHORT}
        self.queued: set[TConn] = set()
        self.notified_at = 0.0
        self.refused: Counter[str] = Counter()
        """Requests refused since the signal was sent last, by lane."""

    def init_process(self) -> None:
        may_open, _ = getrlimit(RLIMIT_NOFILE)
        self.worker_connections: int = min(self.cfg.worker_connections, may_open * 3 // 4)
        self.spare = self.worker_connections // 20
        """Most connections accepted per iteration. This many places stay free for them, and this
        many more are never given to kept-alive connections, so that halves can be displaced."""
        self.max_keepalived = self.worker_connections - 2 * self.spare
        super().init_process()

    def load_wsgi(self) -> None:
        super().load_wsgi()
        self.paths = known_paths()

    def run(self) -> None:
        self.leaders.run()

    def accept(self, listener: socket) -> None:
        """Accept several connections: while it answers many requests, the loop iterates rarely."""
        for _ in range(self.spare):
            before = self.nr_conns
            super().accept(listener)
            if self.nr_conns == before:
                return

    def set_accept_enabled(self, enabled: bool) -> None:
        """Accept connections, or no more; at the end, first those that wait to be accepted."""
        if self.alive:
            super().set_accept_enabled(enabled)
        elif self._accepting:
            self._accept_no_more()

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        super().wait_for_and_dispatch_events(0 if self.queued else timeout)
        self._answer_for_a_while()

    def on_client_socket_readable(self, conn: TConn, client: socket) -> None:
        if self.cfg.is_ssl:
            super().on_client_socket_readable(conn, client)
        elif conn not in self.queued:  # else what it sends has to wait
            self.enqueue_req(conn)

    def enqueue_req(self, conn: TConn) -> None:
        """Queue a complete request; leave an incomplete one to the poller."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)  # as gthread does, in a thread
            return
        if conn.parser is None:
            begin(conn)
        try:
            whole = conn.parser.unreader.receive(conn.sock)
        except OSError:
            self._close(conn)
            return
        if whole:
            self._queue(conn)
        elif conn not in self.halves:
            self._forget(conn)
            self._wait(conn, self.halves, REQUEST_WITHIN_S, lambda _: self.enqueue_req(conn))

    def notify(self) -> None:
        """Tell the master that this worker is alive, but not several times per request."""
        if monotonic() > self.notified_at + NOTIFY_EVERY_S:
            super().notify()
            self.notified_at = monotonic()

    def handle_request(self, req: Any, conn: TConn) -> Any:
        if not self.cfg.is_ssl:
            req._expected_100_continue = False  # Received has answered it
            if not conn.parser.unreader.has_body_of(req):
                req.force_close()  # the rest is not waited for
            conn.sock.settimeout(ANSWER_WITHIN_S)
        try:
            with joined(conn):
                return super().handle_request(req, conn)
        except TimeoutError:
            self.log.warning("%s doesn't read its answer", conn.client)
            raise StopIteration from None

    def murder_keepalived(self, force: bool = False) -> None:
        """Close expired connections; while it stops, only those without a request on its way."""
        if self.alive:
            super().murder_keepalived(force)
            return
        for conn in list(self.keepalived_conns):
            if (force or conn.timeout <= monotonic()) and _is_silent(conn.sock):
                self.keepalived_conns.remove(conn)
                self.poller.unregister(conn.sock)
                self._close(conn)

    def murder_pending(self) -> None:
        """Close expired connections, and the oldest ones if new ones need their places."""
        super().murder_pending()
        most = self.worker_connections - self.spare
        for waiting in (self.leaving, self.halves):
            while waiting and (self.nr_conns > most or next(iter(waiting.values())) < monotonic()):
                self._close(next(iter(waiting)))

    def _accept_no_more(self) -> None:
        for listener in self.sockets:
            self._accept_all(listener)
        super().set_accept_enabled(False)
        for listener in self.sockets:
            listener.close()  # else the kernel gives it more connections (SO_REUSEPORT)
        for conn in self.queued:
            self._forget(conn)  # else it would be closed as idle

    def _accept_all(self, listener: socket) -> None:
        before = -1
        while before < self.nr_conns < self.worker_connections:
            before = self.nr_conns
            self.accept(listener)

    def _queue(self, conn: TConn) -> None:
        """Let a complete request wait in its lane, or pass a slow one on."""
        line = conn.parser.unreader.line
        lane = lane_of(line, self.paths)
        if lane in SLOW:
            if self._pass(conn, lane):
                return
            lane = short_lane_of(line)
        if self.alive and conn in self.keepalived_conns:
            conn.set_timeout()  # it stays in the poller, since most refused ones return there
        else:
            self._forget(conn)
        self.queues[lane].put(conn, monotonic())
        self.queued.add(conn)

    def _pass(self, conn: TConn, lane: str) -> bool:
        """Pass a connection to a slow worker; return False if there is none."""
        if not (self.passing and self.alive and self.passing.is_attended()):
            return False
        try:
            self.passing.send(conn.sock, conn.parser.unreader.buf.getvalue())
        except Full:
            self._refuse(conn, lane)
        except OSError:
            return False
        else:
            self._close(conn)
        return True

    def _answer_for_a_while(self) -> None:
        """Answer or refuse queued requests, one of each lane in turn."""
        until = monotonic() + LOOK_EVERY_S
        while self.queued and (now := monotonic()) < until:
            for lane, queue in self.queues.items():
                if queue:
                    self._answer_next(lane, *queue.take(now))
        self._tell_refused()

    def _answer_next(self, lane: str, conn: TConn, too_late: bool) -> None:
        self.queued.discard(conn)
        if conn.sock.fileno() < 0:
            return  # it was closed as idle
        if is_refused(lane, waiting=self.leaders.waiting, too_late=too_late):
            self._refuse(conn, lane)
        else:
            self._forget(conn)
            self._answer(conn)

    def _refuse(self, conn: TConn, lane: str) -> None:
        """Refuse a request that has not been parsed."""
        self.refused[lane] += 1
        received = conn.parser.unreader
        has_body = not received.line.startswith(b"HEAD ")
        is_kept = conn in self.keepalived_conns
        has_place = is_kept or len(self.keepalived_conns) < self.max_keepalived
        keeps = received.drop() and self.alive and has_place
        answer = refusal(keeps=keeps, has_body=has_body)
        try:
            sent = conn.sock.send(answer)
        except OSError:
            sent = 0
        if sent < len(answer):
            self._close(conn)
        elif not (is_kept and keeps) or len(received):
            self._forget(conn)
            self._finish(conn, keeps)

    def _tell_refused(self) -> None:
        for lane, count in self.refused.items():
            refused.send(type(self), lane=lane, count=count)
        self.refused.clear()

    def _hand_over(self) -> None:
        """Let ``run`` begin again in another thread, with what is left in the queue."""
        self.poller.unregister(self.method_queue.fileno())
        for _ in range(1 + self.method_queue._queue.qsize()):
            self.method_queue.defer(lambda: None)

    def _answer(self, conn: TConn) -> None:
        kept, leads = self.leaders.work(partial(self.handle, conn))
        if not leads:
            self.method_queue.defer(self._finish, conn, kept)
            raise Relieved
        self._finish(conn, kept)

    def _finish(self, conn: TConn, kept: bool) -> None:
        conn.parser.unreader.answered()
        self.notify()  # requests that are ready together may exceed the time-out
        if not kept:
            self._leave(conn)
        elif len(conn.parser.unreader):
            conn.sock.setblocking(False)
            self.method_queue.defer(self.enqueue_req, conn)  # after all other connections
        else:
            self.finish_request(conn, _Answered())

    def _leave(self, conn: TConn) -> None:
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(SHUT_WR)
        except OSError:
            self._close(conn)
        else:
            self._wait(conn, self.leaving, LEAVE_WITHIN_S, partial(self._discard, conn))

    def _discard(self, conn: TConn, sock: socket) -> None:
        try:
            ended = not sock.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            ended = True
        if ended:
            self._close(conn)

    def _wait(
        self, conn: TConn, waiting: dict[TConn, float], within_s: float, on_readable: Any
    ) -> None:
        waiting[conn] = monotonic() + within_s
        self.poller.register(conn.sock, EVENT_READ, on_readable)

    def _forget(self, conn: TConn) -> None:
        """Take a connection out of the poller, whatever it waits for."""
        for waiting in (self.halves, self.leaving, self.keepalived_conns):
            if waiting.pop(conn, None):
                self.poller.unregister(conn.sock)

    def _close(self, conn: TConn) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()


@contextmanager
def joined(conn: TConn) -> Iterator[None]:
    """Send the head of an answer, which gunicorn sends by itself, with the begin of its body."""
    sock = conn.sock
    conn.sock = _Joined(sock)
    try:
        yield
        conn.sock.flush()
    finally:
        conn.sock = sock


class _Joined:
    """A socket that keeps the first bytes until more follow."""

    def __init__(self, sock: socket) -> None:
        self._sock = sock
        self._first: bytes | None = None
        self._keeps = True

    def sendall(self, data: bytes) -> None:
        if self._keeps:
            self._first, self._keeps = data, False
        elif self._first is None:
            self._sock.sendall(data)
        else:
            first, self._first = self._first, None
            self._sock.sendall(first + data)

    def flush(self) -> None:
        if self._first is not None:
            first, self._first = self._first, None
            self._sock.sendall(first)

    def __getattr__(self, name: str) -> Any:
        self.flush()  # sendfile, or the end of the connection
        return getattr(self._sock, name)


class _Answered:
    """The part of a future that gthread reads, for a connection that is kept alive."""

    def cancelled(self) -> bool:
        return False

    def result(self) -> bool:
        return True


def _is_silent(sock: socket) -> bool:
    """Return whether nothing has arrived; a closed connection says nothing either."""
    try:
        return not sock.recv(1, MSG_PEEK)
    except OSError:
        return True


def begin(conn: TConn) -> None:
    conn.parser = get_parser(conn.cfg, conn.sock, conn.client)
    conn.parser.unreader = Received()
    conn.initialized = True
