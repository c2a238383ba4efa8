"""The worker for slow requests: it hashes passwords, and makes exports and reports.

Beside what web.gunicorn_worker lists, it builds on gunicorn's Arbiter: when it calls pre_fork, its
WORKERS, worker_age and cfg.workers, which workers it ends first, and that a new process sets its
worker's pid before it opens sockets.
"""

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from selectors import EVENT_READ
from socket import socket
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from gunicorn.workers.gthread import TConn, ThreadWorker

from web.gunicorn_worker import LoopWorker, begin
from web.lanes import THREADS, lane_of
from web.passing import Passing

NICE = 10
"""The system prefers workers that serve short requests, by about nine to one."""
MOST_PER_THREAD = 20
"""Requests that have or wait for each thread; further ones are refused."""
WITHIN_S = 5
"""Most seconds that a request waits for a thread; then it is refused."""
OTHERS_STOP_WITHIN_S = 0.2
"""Seconds until the other workers of a stopping server pass nothing more on."""


class SlowWorker(LoopWorker):
    """Answers the requests that other workers pass on, in threads, and closes their connections.

    So a slow request shares its interpreter lock, and its share of the processor, only with other
    slow ones (docs/decisions/0047).
    """

    passing: Passing
    _pid: int | str = "[booting]"

    @property
    def pid(self) -> int | str:
        return self._pid

    @pid.setter
    def pid(self, pid: int) -> None:
        """Listen on no port of its own: with --reuse-port, connections to it would be reset.

        gunicorn sets this in the new process, before it opens the worker's sockets.
        """
        self._pid = pid
        if pid == os.getpid():
            self.cfg.set("reuse_port", False)

    def init_process(self) -> None:
        os.nice(NICE)
        for listener in self.sockets:
            listener.close()
        self.sockets: list[Any] = []
        self.pools = {lane: ThreadPoolExecutor(threads) for lane, threads in THREADS.items()}
        self.taken: Counter[str] = Counter()
        """Requests that have or wait for a thread, by lane."""
        super().init_process()

    def run(self) -> None:
        self.max_keepalived = 0
        ThreadWorker.run(self)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Take connections, or no more; at the end, first those that have been passed on."""
        receiver = self.passing.receiver
        if enabled and not self._accepting:
            self.poller.register(receiver, EVENT_READ, self.accept)
        elif self._accepting and not enabled:
            self.poller.unregister(receiver)
            if not self.alive:
                sleep(OTHERS_STOP_WITHIN_S)
                self.accept(receiver)
        self._accepting = enabled

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        self.passing.attend()
        ThreadWorker.wait_for_and_dispatch_events(self, timeout)
        self._tell_refused()

    def accept(self, _: socket) -> None:
        while self.nr_conns < self.worker_connections and (passed := self.passing.receive()):
            self._take(*passed)

    def _take(self, sock: socket, received: bytes) -> None:
        try:
            conn = TConn(self.cfg, sock, sock.getpeername(), sock.getsockname())
        except OSError:  # the client is gone
            sock.close()
            return
        self.nr_conns += 1
        begin(conn)
        conn.parser.unreader.put(received)
        lane = lane_of(conn.parser.unreader.line, self.paths)
        if self.taken[lane] < MOST_PER_THREAD * THREADS[lane]:
            self.taken[lane] += 1
            self.pools[lane].submit(self._work, conn, lane, monotonic())
        else:
            self._refuse(conn, lane)

    def _work(self, conn: TConn, lane: str, since: float) -> None:
        """Answer in a thread; leave the rest to the loop."""
        too_late = monotonic() > since + WITHIN_S
        if not too_late:
            self.handle(conn)
        self.method_queue.defer(self._done, conn, lane, too_late)

    def _done(self, conn: TConn, lane: str, too_late: bool) -> None:
        self.taken[lane] -= 1
        if too_late:
            self._refuse(conn, lane)
        else:
            self._finish(conn, False)


def choose_role(server: Any, worker: Any) -> None:
    """Make the worker a slow one if its generation lacks that; to be called before it is forked.

    The slow ones come last, so that TTOU, which ends the oldest worker, ends another first.
    """
    slow = 0 if server.cfg.is_ssl else min(settings.WEB_SLOW_WORKERS, server.cfg.workers - 1)
    if slow < 1:
        return
    if not hasattr(server, "passing"):
        server.passing, server.generation = Passing(), 0
    worker.passing = server.passing
    roles = Counter(type(it) for it in server.WORKERS.values() if it.age > server.generation)
    if roles[SlowWorker] < slow and roles[LoopWorker] >= server.cfg.workers - slow:
        worker.__class__ = SlowWorker  # gunicorn knows one class of workers


def begin_generation(server: Any) -> None:
    """Count the workers that come from now on by themselves; to be called at HUP."""
    server.generation = server.worker_age
