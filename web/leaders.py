"""Leader and followers: one thread runs an event loop; when it waits, another takes over."""

from collections.abc import Callable
from math import inf
from threading import Event, Lock, Thread
from time import monotonic

LOOK_EVERY_S = 0.02
RELIEVED_AFTER_S = 0.2
"""Seconds that a leader may work on one piece before another thread runs the loop."""
RELIEVED_AGAIN_AFTER_S = 0.03
"""The same while other threads wait already: the next piece is likely to wait too."""
MOST_WAITING = 6
"""Threads that still work on their piece; then the leader is relieved no more, so that it must not
wait."""


class Relieved(BaseException):
    """Another thread runs the loop; raised in the one before, to leave it."""


class Leaders:
    """Runs a loop in one thread after another (the pattern Leader/Followers).

    The leader works on each piece itself, so a short piece needs no hand-over between threads. Only
    a leader that waits is relieved: it finishes its piece, and its thread ends.

    ``lead``: the loop. ``hand_over``: called before another thread begins it. ``leave``: called
    in each thread at its end.
    """

    def __init__(
        self, lead: Callable[[], None], hand_over: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        self._lead, self._hand_over, self._leave = lead, hand_over, leave
        self._lock = Lock()
        self._number = 0
        self.waiting = 0
        """Threads that have been relieved and still work on their piece."""
        self._since = inf
        """When the leader began its piece."""
        self._ended = Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run the loop to its end; raise what it raises. To be called in the main thread."""
        self._begin()
        while not self._ended.wait(LOOK_EVERY_S):
            with self._lock:
                if self._must_relieve():
                    self.waiting += 1
                    self._hand_over()
                    self._begin()
        if self._error:
            raise self._error

    def work(self, piece: Callable[[], bool]) -> tuple[bool, bool]:
        """Return what a piece returns, and whether this thread still leads."""
        number, self._since = self._number, monotonic()
        done = piece()
        with self._lock:
            leads = number == self._number
            if leads:
                self._since = inf
            else:
                self.waiting -= 1
        return done, leads

    def _must_relieve(self) -> bool:
        after_s = RELIEVED_AGAIN_AFTER_S if self.waiting else RELIEVED_AFTER_S
        return self.waiting < MOST_WAITING and monotonic() > self._since + after_s

    def _begin(self) -> None:
        self._number, self._since = self._number + 1, inf
        Thread(target=self._run, name=f"leader {self._number}", daemon=True).start()

    def _run(self) -> None:
        try:
            self._lead()
        except Relieved:
            return
        except BaseException as error:
            self._error = error
        finally:
            self._leave()
        self._ended.set()
