import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

TASK_TIME_LIMIT_S = 30
"""Longest time of a task, where a queue can end it."""

Command = Sequence[str]


class Queue(ABC):
    """Takes calls of ``workers.tasks`` to processes that carry them out.

    It may lose a call or make it twice, early or late: a task delivers only what has no receipt,
    and the sweep delivers what a lost call left behind. So a queue never repeats a task that
    failed.
    """

    brokers: ClassVar[tuple[str, ...]] = ()
    """Where its messages may wait: "redis", "rabbitmq"; nothing: in the service's database."""

    is_at_least_once: ClassVar[bool] = False
    """A call whose worker dies is made again, however long that takes."""

    is_transactional: ClassVar[bool] = False
    """Messages are rows: they are committed with what the same transaction writes."""

    needs_postgresql: ClassVar[bool] = False

    needs_supervisor: ClassVar[bool] = False
    """If a process of its workers dies, all of them end, and something has to start them again."""

    app: Any = None
    """The library's own object, which its command imports from ``workers.queues.worker``."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def send(self, task: str, arguments: Sequence[Any]) -> None:
        """Let a function of ``workers.tasks`` be called with ``arguments``, which are JSON.

        It may wait for the broker, and may raise anything.
        """

    @abstractmethod
    def commands(self, processes: int) -> list[Command]:
        """Return the commands of its workers: so many processes that carry out tasks.

        They end after the task in work at SIGTERM.
        """

    @abstractmethod
    def held(self) -> int:
        """Return how many messages the broker knows: waiting, in work, or stuck."""

    def tidy(self) -> None:  # noqa: B027  few queues have something to do
        """Remove what finished tasks leave behind; each sweep calls it."""


def python(*arguments: str) -> Command:
    return [sys.executable, *arguments]


def manage(*arguments: str) -> Command:
    return python(sys.argv[0], *arguments)
