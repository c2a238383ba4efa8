"""Questions to servers, for callers that can't wait long."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

from django.db import close_old_connections, connections

from runtime.remembered import Forgetful

Answer = TypeVar("Answer")


class Question(Forgetful, Generic[Answer]):
    """Asks in a thread that keeps its connections, once at a time: later callers wait for the same
    answer."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._queue: SimpleQueue[Future[Answer] | None] = SimpleQueue()
        super().__init__()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Ask in a new thread, with new connections, when an answer is next wanted."""
        self._queue.put(None)
        self._queue, self._lock = SimpleQueue(), Lock()
        self._thread: Thread | None = None
        self._answer: Future[Answer] = Future()
        self._answer.cancel()
        self._asked_at = 0.0

    def ask(self) -> Callable[[float], Answer]:
        """Begin to ask, and return what waits for the answer: so many seconds from the beginning.

        That raises what asking raises, or TimeoutError.
        """
        with self._lock:
            if self._answer.done():
                self._answer, self._asked_at = Future(), monotonic()
                self._queue.put(self._answer)
                if not (self._thread and self._thread.is_alive()):
                    self._thread = Thread(target=self._run, args=[self._queue], daemon=True)
                    self._thread.start()
            answer, asked_at = self._answer, self._asked_at
        return lambda within_s: answer.result(max(0.0, asked_at + within_s - monotonic()))

    def _run(self, queue: "SimpleQueue[Future[Answer] | None]") -> None:
        while answer := queue.get():
            try:
                found = self._ask()
                close_old_connections()  # of a pool
            except BaseException as error:
                answer.set_exception(error)
                connections.close_all()
            else:
                answer.set_result(found)
        connections.close_all()
