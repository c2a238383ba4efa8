"""Celery's transport over Redis, whose worker goes on when an acknowledgement is lost."""

from typing import Any

from kombu.transport import redis, virtual


class QoS(redis.QoS):
    """Counts the messages in work.

    kombu 5.7 counts one forever whose acknowledgement raises, and a worker that has as many of them
    as it may fetch takes no more. Redis delivers it again after the visibility time-out.
    """

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        finally:
            virtual.QoS.ack(self, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        try:
            super().reject(delivery_tag, requeue=requeue)
        finally:
            virtual.QoS.ack(self, delivery_tag)


class Channel(redis.Channel):
    QoS: Any = QoS


class Transport(redis.Transport):
    Channel: Any = Channel
