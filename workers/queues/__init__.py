"""Queues: HOW a strategy's tasks get to the processes that carry them out."""

from runtime.backends import BackendHandler
from workers.queues.base import Queue

queues: BackendHandler[Queue] = BackendHandler(choice="FEED_QUEUE", table="FEED_QUEUES")


def get_queue() -> Queue:
    """Return the queue that the setting FEED_QUEUE names."""
    return queues.current
