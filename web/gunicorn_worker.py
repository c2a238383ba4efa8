"""gunicorn's gthread worker without its threads.

It builds on parts of gunicorn that are not documented: how ThreadWorker hands connections on
(enqueue_req, handle, finish_request, murder_pending, run, nr_conns, max_keepalived, poller,
method_queue and its _queue), TConn's parser, the parser's unreader and its
buf, and of a request body.reader and _expected_100_continue. tests/web/test_gunicorn_private.py
fails when those change.
"""

from functools import partial
from resource import RLIMIT_NOFILE, getrlimit
from selectors import EVENT_READ
from socket import SHUT_WR, socket
from time import monotonic
from typing import Any

from django.db import connections
from gunicorn.http import get_parser
from gunicorn.workers.gthread import TConn, ThreadWorker

from web.leaders import MOST_WAITING, Leaders, Relieved
from web.received import READ_SIZE, Received

REQUEST_WITHIN_S = 10
"""Seconds for a request to arrive, from its first byte; a first request, from the connection."""
ANSWER_WITHIN_S = 2
"""Seconds until the rest of an answer must fit into the socket's send buffer."""
LEAVE_WITHIN_S = 2
"""Seconds for a client to read its last answer before the connection is closed."""
MOST_WRITES_WAITING = 4
"""While more requests wait, only safe methods are answered; at MOST_WAITING, only probes."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PROBES = ("/healthz", "/readyz", "/statusz")
REFUSAL = b'{"detail":"Too many requests wait for a server behind this one. Try again."}'


class LoopWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Keeps connections alive like gthread, but answers each request in its event loop.

    No thread waits for the interpreter lock, which costs a short request more than the request
    itself (docs/decisions/0009). The loop reads what has arrived and answers only complete
    requests, so a client that sends half a request blocks no other (docs/decisions/0036). While a
    request waits for a server behind this one, another thread runs the loop
    (docs/decisions/0043). Shorter waits block the process's other clients: run more of these
    processes than cores.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.leaders = Leaders(super().run, self._hand_over, connections.close_all)
        self.halves: dict[TConn, float] = {}
        """Connections without a complete request → deadline; the oldest first."""
        self.leaving: dict[TConn, float] = {}
        """Connections that have had their last answer → deadline; the oldest first."""

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
        self.wsgi: Any = partial(self._call, self.wsgi)

    def run(self) -> None:
        self.leaders.run()

    def accept(self, listener: socket) -> None:
        """Accept several connections: while it answers many requests, the loop iterates rarely."""
        for _ in range(self.spare):
            before = self.nr_conns
            super().accept(listener)
            if self.nr_conns == before:
                return

    def enqueue_req(self, conn: TConn) -> None:
        """Answer a complete request; leave an incomplete one to the poller."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)  # as gthread does, in a thread
            return
        if conn.parser is None:
            _begin(conn)
        try:
            whole = conn.parser.unreader.receive(conn.sock)
        except OSError:
            self._close(conn)
            return
        if whole:
            self._forget(conn)
            self._answer(conn)
        elif conn not in self.halves:
            self._wait(conn, self.halves, REQUEST_WITHIN_S, lambda _: self.enqueue_req(conn))

    def handle_request(self, req: Any, conn: TConn) -> Any:
        if not self.cfg.is_ssl:
            req._expected_100_continue = False  # Received has answered it
            if not conn.parser.unreader.has_body_of(req):
                req.force_close()  # the rest is not waited for
            conn.sock.settimeout(ANSWER_WITHIN_S)
        try:
            return super().handle_request(req, conn)
        except TimeoutError:
            self.log.warning("%s doesn't read its answer", conn.client)
            raise StopIteration from None

    def murder_pending(self) -> None:
        """Close expired connections, and the oldest ones if new ones need their places."""
        super().murder_pending()
        most = self.worker_connections - self.spare
        for waiting in (self.leaving, self.halves):
            while waiting and (self.nr_conns > most or next(iter(waiting.values())) < monotonic()):
                self._close(next(iter(waiting)))

    def _call(self, application: Any, environ: dict[str, Any], start_response: Any) -> Any:
        """Call the application, or refuse what may wait if too many requests wait already."""
        if self.leaders.waiting < MOST_WRITES_WAITING or self._may_wait(environ):
            return application(environ, start_response)
        length = str(len(REFUSAL))
        headers = [("Content-Type", "application/json"), ("Content-Length", length)]
        start_response("503 Service Unavailable", [*headers, ("Retry-After", "1")])
        return [REFUSAL]

    def _may_wait(self, environ: dict[str, Any]) -> bool:
        is_safe = environ["REQUEST_METHOD"] in SAFE_METHODS
        has_place = is_safe and self.leaders.waiting < MOST_WAITING
        return has_place or environ["PATH_INFO"] in PROBES

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
        for waiting in (self.halves, self.leaving):
            if waiting.pop(conn, None):
                self.poller.unregister(conn.sock)

    def _close(self, conn: TConn) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()


class _Answered:
    """The part of a future that gthread reads, for a connection that is kept alive."""

    def cancelled(self) -> bool:
        return False

    def result(self) -> bool:
        return True


def _begin(conn: TConn) -> None:
    conn.parser = get_parser(conn.cfg, conn.sock, conn.client)
    conn.parser.unreader = Received()
    conn.initialized = True
