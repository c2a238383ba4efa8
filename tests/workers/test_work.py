"""manage.py work: which queues suit, when it ends, and what it sends."""

import time
from signal import SIG_DFL, SIGINT, SIGTERM, signal

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection

from feed.models import Post
from workers import tasks
from workers.queues.base import Queue, python

ON_POSTGRESQL = connection.vendor == "postgresql"
ENDS = python("-c", "raise SystemExit(3)")
STAYS = python("-c", "import time; time.sleep(60)")


class OneEnds(Queue):
    """A queue one of whose workers ends."""

    def send(self, task, arguments):
        """Lose it."""

    def commands(self, processes):
        return [STAYS] * (processes - 1) + [ENDS]

    def held(self):
        return 0


@pytest.mark.parametrize(
    ("chosen", "refusal"),
    [
        ({"FEED_QUEUE": "huey", "BROKER_URL": "amqp://127.0.0.1"}, "redis or rediss, not amqp"),
        ({"BROKER_URL": "redis+cluster://127.0.0.1:7000"}, "not redis.cluster"),
        *([] if ON_POSTGRESQL else [({"FEED_QUEUE": "procrastinate"}, "needs PostgreSQL, not")]),
    ],
    ids=str,
)
def test_a_queue_that_cannot_work_is_refused_where_one_is_needed(chosen, refusal, settings):
    for name, value in chosen.items():
        setattr(settings, name, value)
    call_command("check")
    settings.FEED_STRATEGY = "task"

    with pytest.raises(SystemCheckError, match=rf"(?s)workers\.E001.*{refusal}"):
        call_command("check")


@pytest.fixture
def handlers():
    """Keep what this process does with signals."""
    before = {number: signal(number, SIG_DFL) for number in (SIGTERM, SIGINT)}
    yield
    for number, handler in before.items():
        signal(number, handler)


def test_when_a_worker_ends_the_others_are_ended_too(settings, handlers):
    settings.FEED_QUEUES = {"ends": {"BACKEND": f"{__name__}.OneEnds"}}
    settings.FEED_QUEUE = "ends"
    began = time.monotonic()

    with pytest.raises(CommandError, match=r"a worker ended: \[-15, 3\]"):
        call_command("work", processes=2)

    assert time.monotonic() - began < 30


def test_without_processes_nothing_starts():
    with pytest.raises(CommandError, match="--processes must be at least 1"):
        call_command("work", processes=0)


@pytest.mark.parametrize(("waited_s", "delivers"), [(1, True), (6, False)])
def test_a_sweep_that_waited_for_long_does_nothing(waited_s, delivers, friends, settings):
    """Posts without a receipt then wait for their messages, which are behind others."""
    settings.FEED_STRATEGY = "outbox"
    Post.objects.create(author_id=1, body="text")

    tasks.sweep(time.time() - waited_s)

    assert Post.objects.pending().exists() != delivers
