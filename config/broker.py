"""How Celery talks to its broker, Redis or RabbitMQ by BROKER_URL alone."""

from typing import Any

TASK_TIME_LIMIT_S = 30

REDIS = {
    # An unacknowledged message is redelivered after this time; a task must end before.
    "visibility_timeout": 2 * TASK_TIME_LIMIT_S,
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
    # kombu sets no time-outs by default: a frozen broker would block a request forever.
    "socket_timeout": 2,
    "socket_connect_timeout": 2,
}
RABBITMQ = {"confirm_publish": True, "connect_timeout": 2, "read_timeout": 2, "write_timeout": 2}


def transport_options(broker_url: str) -> dict[str, Any]:
    return RABBITMQ if broker_url.startswith(("amqp", "pyamqp")) else REDIS
