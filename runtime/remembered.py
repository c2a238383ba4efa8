"""What a process knows for a while, in one place: ``forget_all`` makes it as new."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Value = TypeVar("Value")
_all: WeakSet["Forgetful"] = WeakSet()


class Forgetful(ABC):
    """Something that a process knows."""

    def __init__(self) -> None:
        self.forget()
        _all.add(self)

    @abstractmethod
    def forget(self) -> None:
        """Know nothing any more."""


def forget_all() -> None:
    """Let this process know nothing any more, as if it had just begun."""
    for each in list(_all):
        each.forget()


class _Known:
    def __init__(self, value: Any = None, until: float = -inf) -> None:
        self.value, self.until = value, until


class Remembered(Forgetful, Generic[Value]):
    """A value that ``ask`` returns, trusted for ``for_s`` seconds from when it was asked for.

    ``times``: trusted for at least so many times as long as asking took, from its end. Then one
    thread asks at a time, and the others go on with the value before.
    """

    _known: _Known

    def __init__(self, ask: Callable[[], Value], *, for_s: float, times: float = 0.0) -> None:
        self.ask, self.for_s, self.times = ask, for_s, times
        super().__init__()

    def get(self) -> Value:
        """Return the value; ask if it is too old. Raises what asking raises."""
        known, asked_at = self._known, monotonic()
        value: Value = known.value
        if asked_at >= known.until:
            if self.times and value is not None:
                known.until = asked_at + self.for_s
            value, ended_at = self.ask(), monotonic()
            until = max(asked_at + self.for_s, ended_at + self.times * (ended_at - asked_at))
            if self._known is known:  # else it was forgotten, or asked for by another thread
                self._known = _Known(value, until)
        return value

    def last(self) -> Value | None:
        """Return the value, however old; None if there is none."""
        value: Value | None = self._known.value
        return value

    def fresh(self) -> Value | None:
        """Return the value if it is trusted still, without asking; else None."""
        known = self._known
        return known.value if monotonic() < known.until else None

    def forget(self) -> None:
        """Ask when the value is next wanted."""
        self._known = _Known()


class Pause(Forgetful):
    """A time in which something is not done again."""

    until: float

    def is_over(self) -> bool:
        return monotonic() >= self.until

    def begin(self, seconds: float) -> None:
        self.until = monotonic() + seconds

    def forget(self) -> None:
        self.until = -inf
