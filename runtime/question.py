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

    def answer(self, *, within_s: float) -> Answer:
        """Return the answer, or raise what asking raises; TimeoutError if it takes longer."""
        with self._lock:
            if self._answer.done():
                self._answer = Future()
                Thread(target=self._run, args=[self._answer], daemon=True).start()
            answer = self._answer
        return answer.result(within_s)

    def _run(self, answer: Future[Answer]) -> None:
        try:
            answer.set_result(self._ask())
        except BaseException as error:
            answer.set_exception(error)
        finally:
            connections.close_all()
