"""Repeated and late messages, with every strategy that sends them; slow and failing brokers.

That no store delivers a post twice is in the contract (tests/feed/test_timeline_stores.py).
"""

import time
from collections import Counter
from threading import Event

import pytest

from feed.models import Post
from feed.services import publish_post
from tests.backends import QUEUE_STRATEGIES, here
from tests.conftest import whole_timelines
from tests.sessions import wait_until
from workers import messages
from workers.messages import Messages


@pytest.fixture(params=QUEUE_STRATEGIES)
def strategy(request, settings, worker, friends, redis, monkeypatch):
    monkeypatch.setattr("workers.chunks.OWNERS_PER_CHUNK", 2)
    settings.FEED_STRATEGY = request.param
    return request.param


@pytest.fixture(params=here(["setbased", "ring"]))
def store(request, settings, strategy):
    settings.FEED_TIMELINE_STORE = request.param
    return whole_timelines()


def timelines(store):
    return [store.members(owner) for owner in (1, 2, 3, 4)]


def test_a_message_sent_twice_delivers_once(store, worker):
    with worker.held():
        post = publish_post(author_id=1, body="hello").post
        worker.await_message()
        worker.send_again()

    worker.await_receipts()

    assert timelines(store) == [[post.id], [post.id], [post.id], []]


def test_a_message_redelivered_after_the_receipt_changes_nothing(store, worker):
    post = publish_post(author_id=1, body="hello").post
    worker.await_receipts()
    receipt = Post.objects.get().delivered_at

    worker.send_again()
    worker.settle()

    assert timelines(store) == [[post.id], [post.id], [post.id], []]
    assert Post.objects.get().delivered_at == receipt


class Broker:
    """A queue whose broker takes messages one by one, as ``is_free`` says."""

    def __init__(self):
        self.sent, self.is_free = [], Event()

    def send(self, task, arguments):
        self.is_free.wait()
        if task == "fails":
            raise OSError
        self.sent.append(task)

    def await_sent(self, count):
        wait_until(lambda: len(self.sent) >= count)
        return self.sent


@pytest.fixture
def broker(monkeypatch):
    broker = Broker()
    monkeypatch.setattr(messages, "get_queue", lambda: broker)
    yield broker
    broker.is_free.set()


def test_nobody_waits_for_a_broker_that_does_not_answer(broker, monkeypatch):
    monkeypatch.setattr(messages, "MOST_WAITING", 10)
    outgoing = Messages()
    began = time.monotonic()
    for number in range(100):
        outgoing.send(str(number))
    assert time.monotonic() - began < 10

    broker.is_free.set()
    assert broker.await_sent(10)[:10] == list(map(str, range(10)))
    time.sleep(0.05)
    assert len(broker.sent) <= 20  # a turn, and those that waited meanwhile


def test_a_message_that_waits_is_not_sent_twice(broker):
    outgoing = Messages()
    for _ in range(100):
        outgoing.send("ring")
    broker.is_free.set()
    outgoing.send("end")

    wait_until(lambda: "end" in broker.sent)
    assert Counter(broker.sent)["ring"] <= 2  # one may be on its way already


def test_after_a_failure_the_next_messages_are_sent(broker, monkeypatch):
    monkeypatch.setattr(messages, "PAUSE_AFTER_FAILURE_S", 0.01)
    outgoing = Messages()
    broker.is_free.set()
    outgoing.send("fails")
    time.sleep(0.05)
    outgoing.send("next")

    assert broker.await_sent(1) == ["next"]
