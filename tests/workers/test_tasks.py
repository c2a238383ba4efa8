"""Celery tasks under a steady load, which never lets the backlog become empty."""

import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from feed.models import IdempotencyKey, Post
from workers import tasks


@pytest.mark.parametrize("task", [tasks.drain, tasks.sweep])
def test_a_task_ends_in_time_and_removes_what_has_expired(task, friends, monkeypatch):
    killed_at = time.monotonic() + 20

    def deliver_another(limit):
        assert time.monotonic() < killed_at, "killed"
        time.sleep(0.01)
        return limit

    monkeypatch.setattr(tasks, "deliver_pending", deliver_another)
    monkeypatch.setattr(tasks, "DRAIN_S", 0.2)
    post = Post.objects.create(author_id=1, body="text")
    IdempotencyKey.objects.create(
        author_id=1,
        key_sha256="k",
        body_sha256="b",
        post=post,
        created_at=Now() - timedelta(days=9),
    )

    task()

    assert not IdempotencyKey.objects.exists()
