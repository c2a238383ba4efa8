"""Celery's messages and workers vanish under load: accepted posts still arrive, once."""

import os
import signal
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import psutil
import pytest
import redis
from amqp import Connection
from amqp.exceptions import PreconditionFailed

from lab.faults.readers import PENDING
from lab.faults.running import Repeated, kill_when, serving, wait_for
from tests.system.faults import in_flight

pytestmark = pytest.mark.alone

RABBITMQ = "mysql_tuned-task-setbased@rabbitmq"
VARIANTS = [
    "mysql_tuned-task-setbased",
    "mysql_tuned-chunked-setbased",
    "mysql_tuned-outbox_celery-setbased",
    RABBITMQ,
]
QUEUE = "celery"
DELIVERED = "SELECT count(*) FROM feed_post WHERE delivered_at > 0"


@pytest.fixture(scope="module", params=VARIANTS)
def service(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FEED_GRACE_S", "1")
        patched.setenv("FEED_SWEEP_S", "1")
        with serving(request.param, tmp_path_factory.mktemp("run"), clients=0) as running:
            yield running


@pytest.fixture
def running(service):
    """The service under load; earlier accepted posts are audited again.

    The clients pause, as a backlog of seconds proves no more than one of some posts.
    """
    with service.load(clients=2, pause_s=0.02):
        delivered = service.query(DELIVERED)
        wait_for(lambda: service.query(DELIVERED) > delivered)
        yield service


def celery_main(running):
    """The process of the Celery worker whose children do the work."""
    candidates = map(psutil.Process, running.processes.pids("workers"))
    (main,) = [process for process in candidates if "worker" in process.cmdline()]
    return main


def children(running):
    return [child.pid for child in celery_main(running).children()]


class Supervised(Repeated):
    """The workers are restarted if one ends, as compose does.

    A worker survives without its broker unless that vanishes during a task: closing the channel
    then calls the broker once more, and kombu 5.7 fails there with an AttributeError. It may end
    only when the broker has been back for a second.
    """

    def __init__(self, running):
        super().__init__([self._supervise])
        self.running = running

    def _supervise(self):
        while not self.stopping.wait(0.2):
            if self.running.processes.have_ended("workers"):
                self.running.processes.stop("workers")
                self.running.service.start_workers()


def assert_all_arrived(running, fault_at):
    """Posts were accepted before the fault, right after it and later, and every one arrived."""
    wait_for(lambda: running.accepted_between(fault_at + 0.5, time.monotonic()) > 0)
    audit = running.audit()

    assert running.accepted_between(running.loaded_at, fault_at) > 0
    assert running.accepted_between(fault_at, fault_at + 0.5) > 0
    assert audit["posts"] >= len(running.accepted)
    assert audit["ok"], audit


def test_a_celery_child_that_is_killed_loses_nothing(running):
    killed = kill_when(lambda: children(running), in_flight(running))
    killed_at = time.monotonic()

    wait_for(lambda: killed not in children(running))
    assert_all_arrived(running, killed_at)


def test_a_celery_worker_killed_with_its_children_loses_nothing(running):
    main = celery_main(running)
    kill_when(lambda: children(running), in_flight(running))
    rest = [main, *main.children()]
    for process in rest:
        os.kill(process.pid, signal.SIGKILL)
    killed_at = time.monotonic()

    time.sleep(0.5)
    running.processes.stop("workers")
    running.service.start_workers()
    assert_all_arrived(running, killed_at)


def test_a_broker_that_forgets_everything_loses_nothing(running):
    main = celery_main(running)
    broker = broker_of(running)
    main.suspend()  # so that messages wait for it
    wait_for(lambda: broker.waiting() > 0 and running.query(PENDING) > 0)
    waiting = running.query(PENDING)
    broker.forget()
    flushed_at = time.monotonic()
    main.resume()

    assert waiting > 0
    assert_all_arrived(running, flushed_at)


def test_an_unavailable_broker_makes_no_post_fail(running):
    broker = running.service.servers[-1]
    running.processes.stop(broker.role)
    gone_at = time.monotonic()
    time.sleep(2)
    broker.start()
    back_at = time.monotonic()

    assert running.accepted_between(gone_at + 1, back_at) > 0
    with Supervised(running):
        assert_all_arrived(running, gone_at)
    assert not [at for at in running.refused if at > gone_at]


@pytest.mark.parametrize("service", [RABBITMQ], indirect=True)
def test_rabbitmq_keeps_the_messages_in_a_quorum_queue(running):
    classic = {"x-queue-type": "classic"}

    with broker_of(running).channel() as channel, pytest.raises(PreconditionFailed, match="quorum"):
        channel.queue_declare(QUEUE, durable=True, auto_delete=False, arguments=classic)


class RedisBroker:
    def __init__(self, url):
        self.client = redis.Redis.from_url(url)

    def waiting(self):
        return self.client.llen(QUEUE)

    def forget(self):
        self.client.flushdb()


class RabbitMQBroker:
    def __init__(self, url):
        self.host = urlsplit(url).netloc.partition("@")[2]

    @contextmanager
    def channel(self):
        with Connection(self.host) as connection:
            yield connection.channel()

    def waiting(self):
        with self.channel() as channel:
            return channel.queue_declare(QUEUE, passive=True).message_count

    def forget(self):
        with self.channel() as channel:
            channel.queue_purge(QUEUE)


def broker_of(running):
    url = running.service.environments[0]["BROKER_URL"]
    return RedisBroker(url) if url.startswith("redis") else RabbitMQBroker(url)
