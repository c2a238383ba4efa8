"""The figures of /statusz, which load generators show."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from accounts.models import Follow
from feed import health, recent_rates
from feed.models import Post
from tests.conftest import client_of
from tests.sessions import analyze

pytestmark = pytest.mark.django_db(transaction=True)  # probes ask in threads of their own


@pytest.fixture
def status(friends):
    def ask():
        health._known_counts.forget()  # instead of a second's wait
        return client_of(None).get("/statusz").json()

    return ask


def delivered(author_id, lag_ms, ago_s=1):
    """Create a post with a receipt of this age."""
    post = Post.objects.create(author_id=author_id, body="x")
    at = Now() - timedelta(seconds=ago_s)
    Post.objects.filter(id=post.id).update(
        delivered_at=at, created_at=at - timedelta(milliseconds=lag_ms)
    )


def test_without_posts_there_is_no_lag(status, settings):
    assert status() == {
        "strategy": settings.FEED_STRATEGY,
        "store": settings.FEED_TIMELINE_STORE,
        "backlog": {"posts": 0, "oldest_age_s": None},
        "poison": {"posts": 0, "oldest_ids": []},
        "store_is_healing": True,
        "store_state": "ok",
        "unfinished_changes": 0,
        "celebrities": 0,
        "window_s": 10,
        "deliveries_per_s": 0.0,
        "lag_ms": {"p50": None, "p99": None},
    }


def test_an_answer_is_given_again_within_a_second(friends):
    first = client_of(None).get("/statusz").json()
    Post.objects.create(author_id=1, body="x")

    assert client_of(None).get("/statusz").json() == first


def test_a_post_counts_its_authors_friends_and_the_author(status):
    delivered(author_id=1, lag_ms=5)
    delivered(author_id=1, lag_ms=5)
    delivered(author_id=4, lag_ms=5)

    assert status()["deliveries_per_s"] == (3 + 3 + 1) / 10


def test_counts_of_friends_are_cached(status):
    delivered(author_id=1, lag_ms=5)
    status()
    Follow.objects.all().delete()
    assert status()["deliveries_per_s"] == 0.3

    recent_rates.reader_counts._counts.forget()

    assert status()["deliveries_per_s"] == 0.1


def test_lag_is_the_time_to_the_receipt(status):
    for lag_ms in range(1, 101):
        delivered(author_id=1, lag_ms=lag_ms)

    lag_ms = status()["lag_ms"]

    assert lag_ms["p50"] == pytest.approx(50.5, abs=1)
    assert lag_ms["p99"] == pytest.approx(99, abs=1)


def test_only_the_last_ten_seconds_count(status):
    delivered(author_id=1, lag_ms=5, ago_s=11)

    assert status()["deliveries_per_s"] == 0
    assert status()["lag_ms"]["p99"] is None


def test_posts_beyond_the_read_limit_are_extrapolated(status, monkeypatch):
    monkeypatch.setattr(recent_rates, "MOST_POSTS", 4)
    for _ in range(10):
        delivered(author_id=1, lag_ms=5)

    assert status()["deliveries_per_s"] == 3.0


def test_the_receipts_index_is_used(friends):
    Post.objects.bulk_create(
        Post(author_id=1, body="x", delivered_at="2026-01-01T00:00:00Z") for _ in range(1000)
    )
    analyze("feed_post")

    assert "post_backlog" in recent_rates.delivered()[:10].explain()
