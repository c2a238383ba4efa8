"""Celery tasks under a steady load, which never lets the backlog become empty."""

import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from feed.models import IdempotencyKey, Post
from workers import tasks

KILLED_AFTER_S = 2.0


@pytest.fixture
def steady_load(monkeypatch, friends):
    """Let there always be another batch, and a task that takes too long be killed."""
    killed_at = time.monotonic() + KILLED_AFTER_S

    def deliver_another(limit):
        if time.monotonic() > killed_at:
            raise TimeoutError("killed")
        time.sleep(0.01)
        return limit

    monkeypatch.setattr(tasks, "deliver_pending", deliver_another)
    monkeypatch.setattr(tasks, "DRAIN_S", KILLED_AFTER_S / 10, raising=False)


@pytest.fixture
def expired(steady_load):
    post = Post.objects.create(author_id=1, body="text")
    return IdempotencyKey.objects.create(
        author_id=1,
        key_sha256="k",
        body_sha256="b",
        post=post,
        created_at=Now() - timedelta(days=9),
    )


@pytest.mark.parametrize("task", [tasks.drain, tasks.sweep])
def test_a_task_ends_in_time_and_removes_what_has_expired(task, expired):
    task()

    assert not IdempotencyKey.objects.exists()
