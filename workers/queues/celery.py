"""Celery, over Redis or RabbitMQ."""

import socket
from collections.abc import Callable, Sequence
from typing import Any

import celery
from amqp.exceptions import NotFound

from workers.queues.base import TASK_TIME_LIMIT_S, Command, Queue, python
from workers.tasks import TASKS, carry_out

NAME = "celery"
"""Of its queue, in any broker."""
GONE_AFTER_S = 10
"""Time without a sign of life from the kernel of the broker's host. A frozen broker's has one."""
ALWAYS = {
    "accept_content": ["json"],
    "task_ignore_result": True,
    "task_publish_retry_policy": {"max_retries": 1, "interval_start": 0, "interval_step": 0.1},
    "worker_hijack_root_logger": False,
}
TUNED = {
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_time_limit": TASK_TIME_LIMIT_S,
    "worker_prefetch_multiplier": 1,
    # Tasks that use a connection to the database, before Celery closes it: by default one, and
    # PostgreSQL starts a process for the next.
    "CELERY_DB_REUSE_MAX": 1000,
    # RabbitMQ gives the queue of the remote control to nobody else while it believes a connection
    # alive that is lost: a worker could not start again.
    "worker_enable_remote_control": False,
}
REDIS = {
    "broker_transport": "workers.queues.celery_redis:Transport",
    "broker_transport_options": {
        # An unacknowledged message is redelivered after this time; a task must end before.
        "visibility_timeout": 2 * TASK_TIME_LIMIT_S,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 2,
        # No socket_timeout: no request waits for the broker (workers/messages.py), and a host that
        # is gone ends its connections.
        "socket_keepalive": True,
        "socket_keepalive_options": {
            socket.TCP_KEEPIDLE: GONE_AFTER_S // 2,
            socket.TCP_KEEPINTVL: GONE_AFTER_S // 2,
            socket.TCP_USER_TIMEOUT: GONE_AFTER_S * 1000,
        },
    },
}
RABBITMQ = {
    "task_default_queue_type": "quorum",
    "broker_transport_options": {
        "confirm_publish": True,
        "connect_timeout": 2,
        "read_timeout": 2,
        "write_timeout": 2,
    },
}


class Celery(Queue):
    """Celery, with messages that are acknowledged after their tasks."""

    brokers = ("redis", "rabbitmq")
    is_at_least_once = True

    def __init__(self, alias: str, *, url: str) -> None:
        super().__init__(alias)
        self.app = celery.Celery("workers", broker=url, set_as_current=False)
        self.app.conf.update({**ALWAYS, **self.options(url)})
        self._tasks = {
            name: self.app.task(name=f"workers.tasks.{name}", shared=False)(_calling(name))
            for name in TASKS
        }

    def options(self, url: str) -> dict[str, Any]:
        return TUNED | (REDIS if url.startswith("redis") else RABBITMQ)

    def send(self, task: str, arguments: Sequence[Any]) -> None:
        self._tasks[task].delay(*arguments)

    def commands(self, processes: int) -> list[Command]:
        options = (f"--concurrency={processes}", "--loglevel=WARNING")
        quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
        app = "--app=workers.queues.worker"
        return [python("-m", "celery", app, "worker", *options, *quiet)]

    def held(self) -> int:
        with self.app.connection() as connection:
            channel = connection.default_channel
            if connection.transport.driver_type == "redis":
                return int(channel.client.llen(NAME) + channel.client.hlen("unacked"))
            try:
                return int(channel.queue_declare(NAME, passive=True).message_count)
            except NotFound:
                return 0


def _calling(task: str) -> Callable[..., None]:
    def call(*arguments: Any) -> None:
        carry_out(task, arguments)

    return call


class CeleryDefaults(Celery):
    """Celery as it comes: messages are acknowledged before their tasks, four per process."""

    is_at_least_once = False

    def options(self, url: str) -> dict[str, Any]:
        return {}
