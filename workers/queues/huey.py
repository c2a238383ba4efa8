"""Huey, over Redis."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.conf import settings
from huey import RedisHuey
from huey.serializer import SignedSerializer

from workers.queues.base import Command, Queue, python
from workers.tasks import carry_out


class Huey(Queue):
    """Huey: a message is gone as soon as a worker has taken it."""

    brokers = ("redis",)
    worker_options: ClassVar[Sequence[str]] = ("--graceful-signal=TERM",)

    def __init__(self, alias: str, *, url: str) -> None:
        super().__init__(alias)
        # Messages are pickled: signed, Redis alone can't let a worker run what it likes.
        serializer = SignedSerializer(secret=settings.SECRET_KEY)
        self.app = RedisHuey("workers", url=url, results=False, serializer=serializer)
        self._call = self.app.task()(carry_out)

    def send(self, task: str, arguments: Sequence[Any]) -> None:
        self._call(task, list(arguments))

    def commands(self, processes: int) -> list[Command]:
        options = (f"--workers={processes}", "--worker-type=process", "--quiet", "--no-periodic")
        app = "workers.queues.worker.app"
        return [python("-m", "huey.bin.huey_consumer", app, *options, *self.worker_options)]

    def held(self) -> int:
        return int(self.app.pending_count())


class HueyDefaults(Huey):
    """Huey as it comes: SIGTERM ends a task in its middle."""

    worker_options = ()
