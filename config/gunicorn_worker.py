"""gunicorn's gthread worker without its threads."""

from socket import socket
from typing import Any

from gunicorn.workers.gthread import _DEFER, TConn, ThreadWorker


class LoopWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Keeps connections alive like gthread, but answers each request in its event loop.

    No thread waits for another's turn at the interpreter, which costs a short request more than
    the request itself (docs/decisions/0009). What waits for a server behind this one holds up the
    process's other clients, and so does a client that sends half a request: run more of these
    processes than cores, behind a proxy that reads requests whole.
    """

    def accept(self, listener: socket) -> None:
        """Accept all that wait: while many requests are answered, the loop comes round rarely."""
        before = -1
        while before < self.nr_conns < self.worker_connections:
            before = self.nr_conns
            super().accept(listener)

    def enqueue_req(self, conn: TConn) -> None:
        self.finish_request(conn, _Answered(self.handle(conn)))
        self.notify()  # requests that are ready together may add up to the time-out

    def handle(self, conn: TConn) -> Any:
        if not conn.initialized and not conn.wait_for_data(timeout=0):
            return _DEFER  # a new connection comes back when there is a request
        return super().handle(conn)


class _Answered:
    """What gthread wants of a future."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def cancelled(self) -> bool:
        return False

    def result(self) -> Any:
        return self._result
