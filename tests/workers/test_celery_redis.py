"""Celery's channel to a Redis that is gone when a message is to be acknowledged."""

from operator import methodcaller

import pytest
from kombu import Connection

from launch.processes import Processes
from launch.servers import Redis
from workers.queues.celery import REDIS


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broker")
    with Processes(folder / "logs") as processes:
        server = Redis(processes, folder / "redis", "local")
        server.start()
        yield server


@pytest.fixture
def queue(server):
    url = server.environment["BROKER_URL"]
    with Connection(url, transport=REDIS["broker_transport"]) as connection:
        queue = connection.SimpleQueue("celery")
        queue.channel.basic_qos(prefetch_count=1)
        yield queue
        server.start()


@pytest.mark.parametrize("end", ["ack", "reject", "requeue"])
def test_a_lost_acknowledgement_keeps_no_other_message_away(end, server, queue):
    queue.put("first")
    message = queue.get(timeout=60)
    assert not queue.channel.qos.can_consume()

    server.processes.kill(server.role)
    with pytest.raises(queue.channel.connection_errors):
        methodcaller(end)(message)
    assert queue.channel.qos.can_consume()
