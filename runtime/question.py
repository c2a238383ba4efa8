"""Questions to servers, for callers that can't wait long."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Generic, TypeVar

from django.db import connections

Answer = TypeVar("Answer")


class Question(Generic[Answer]):
    """Asks in a thread of its own, once at a time: later callers wait for the same answer."""

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        self._lock = Lock()
        self._answer: Future[Answer] = Future()
        self._answer.cancel()

    def ask(self) -> Future[Answer]:
        """Return the answer to come, which may raise what asking raises."""
        with self._lock:
            if self._answer.done():
                self._answer = Future()
                Thread(target=self._run, args=[self._answer], daemon=True).start()
            return self._answer

    def _run(self, answer: Future[Answer]) -> None:
        try:
            answer.set_result(self._ask())
        except BaseException as error:
            answer.set_exception(error)
        finally:
            connections.close_all()
