"""How Celery talks to its broker, Redis or RabbitMQ by BROKER_URL alone."""

import socket
from typing import Any

TASK_TIME_LIMIT_S = 30
GONE_AFTER_S = 10
"""Time without a sign of life from the kernel of the broker's host. A frozen broker's has one."""

REDIS = {
    # An unacknowledged message is redelivered after this time; a task must end before.
    "visibility_timeout": 2 * TASK_TIME_LIMIT_S,
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    # No socket_timeout: no request waits for the broker (workers/messages.py), and a host that is
    # gone ends its connections.
    "socket_keepalive": True,
    "socket_keepalive_options": {
        socket.TCP_KEEPIDLE: GONE_AFTER_S // 2,
        socket.TCP_KEEPINTVL: GONE_AFTER_S // 2,
        socket.TCP_USER_TIMEOUT: GONE_AFTER_S * 1000,
    },
}
RABBITMQ = {"confirm_publish": True, "connect_timeout": 2, "read_timeout": 2, "write_timeout": 2}


def transport(broker_url: str) -> str | None:
    """Return the path of kombu's transport; None for the one that the URL names."""
    return "workers.redis_broker:Transport" if broker_url.startswith("redis") else None


def transport_options(broker_url: str) -> dict[str, Any]:
    return RABBITMQ if broker_url.startswith(("amqp", "pyamqp")) else REDIS
