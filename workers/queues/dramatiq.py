"""Dramatiq, over Redis or RabbitMQ."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dramatiq import actor
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import ShutdownNotifications, TimeLimit

from workers.queues.base import TASK_TIME_LIMIT_S, Command, Queue, python
from workers.tasks import carry_out

NAME = "default"
"""Of its queue."""
HEARTBEAT_MS = 10_000
ALWAYS = 1_000_000
"""Each command looks for messages of dead workers; by default one of a thousand does."""


class Dramatiq(Queue):
    """Dramatiq, with messages that are acknowledged after their tasks."""

    brokers = ("redis", "rabbitmq")
    is_at_least_once = True
    needs_supervisor = True
    redis_options: ClassVar[Mapping[str, Any]] = {
        "maintenance_chance": ALWAYS,
        "heartbeat_timeout": HEARTBEAT_MS,
    }
    rabbitmq_options: ClassVar[Mapping[str, Any]] = {"confirm_delivery": True}

    def __init__(self, alias: str, *, url: str) -> None:
        super().__init__(alias)
        # Without Retries: a task that failed is the sweep's.
        middleware = [TimeLimit(time_limit=TASK_TIME_LIMIT_S * 1000), ShutdownNotifications()]
        if url.startswith("redis"):
            self.app = RedisBroker(url=url, middleware=middleware, **self.redis_options)
        else:
            # What Celery's users write for the virtual host "/" is the one without a name to pika.
            url = f"{url[:-1]}%2F" if url.endswith("//") else url
            self.app = RabbitmqBroker(url=url, middleware=middleware, **self.rabbitmq_options)
        self._call = actor(queue_name=NAME, broker=self.app)(carry_out)

    def send(self, task: str, arguments: Sequence[Any]) -> None:
        self._call.send(task, list(arguments))

    def commands(self, processes: int) -> list[Command]:
        options = ("--processes", str(processes), "--threads", "1", "--skip-logging")
        return [python("-m", "dramatiq", "workers.queues.worker:app", *options)]

    def held(self) -> int:
        if isinstance(self.app, RedisBroker):
            return int(self.app.client.hlen(f"{self.app.namespace}:{NAME}.msgs"))
        waiting, _, _ = self.app.get_queue_message_counts(NAME)
        return int(waiting)


class DramatiqDefaults(Dramatiq):
    """Dramatiq as it comes: dead workers' messages are rarely looked for, sends unconfirmed."""

    redis_options = rabbitmq_options = {}
