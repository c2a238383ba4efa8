"""Posts are refused while deliveries are too far behind."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from feed import backlog
from feed.delivery import deliver_pending
from feed.models import Poison, Post
from metrics.backlog import Backlog
from runtime.remembered import forget_all
from tests.conftest import client_of, whole_timelines
from tests.sessions import analyze

pytestmark = pytest.mark.django_db(transaction=True)  # probes ask in threads of their own
LONG_AGO = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def outbox(settings, friends):
    settings.FEED_STRATEGY = "outbox"
    whole_timelines()


def publish(client, **headers):
    forget_all()  # instead of a second's wait
    return client.post("/v1/posts/", {"body": "hello"}, format="json", headers=headers)


def readiness():
    return client_of(None).get("/readyz")


def scraped():
    """Return what Prometheus reads: waiting posts, the oldest one's age, and if posts are taken."""
    values = {metric.name: metric.samples[0].value for metric in Backlog().collect()}
    names = ("feed_backlog_posts", "feed_oldest_pending_seconds", "feed_accepts_posts")
    return tuple(values[name] for name in names)


def test_posts_are_refused_while_the_oldest_one_waits_for_too_long(author):
    assert scraped() == (0, 0, 1)
    assert publish(author).status_code == 201
    Post.objects.update(created_at=LONG_AGO)

    refused = publish(author)

    posts, oldest_s, accepts = scraped()
    assert (posts, oldest_s > 1000, accepts) == (1, True, 0)
    assert refused.status_code == 503
    assert refused["Retry-After"] == "10"
    assert refused.json() == {
        "detail": "Deliveries are behind. Try again later.",
        "code": "backlog_full",
    }
    assert Post.objects.count() == 1


def test_posts_are_refused_while_too_many_wait(author, settings):
    settings.FEED_BACKLOG_MAX_POSTS = 3
    answers = [publish(author).status_code for _ in range(6)]

    assert answers == [201, 201, 201, 201, 503, 503]  # more than three wait
    assert readiness().json()["posts"] == "refused: more than 3 posts wait"


def test_only_waiting_posts_count(author, settings):
    settings.FEED_BACKLOG_MAX_POSTS = 3
    publish(author)
    for _ in range(6):
        Post.objects.exclude(id=Post.objects.earliest("id").id).update(delivered_at=LONG_AGO)
        assert publish(author).status_code == 201


@pytest.mark.parametrize("limit", ["FEED_BACKLOG_MAX_AGE_S", "FEED_BACKLOG_MAX_POSTS"])
def test_zero_is_no_limit(limit, author, settings):
    settings.FEED_BACKLOG_MAX_AGE_S = settings.FEED_BACKLOG_MAX_POSTS = 1
    Post.objects.bulk_create(
        Post(author_id=1, body="x", created_at=LONG_AGO if "AGE" in limit else "2100-01-01T00:00Z")
        for _ in range(1 if "AGE" in limit else 5)
    )
    assert publish(author).status_code == 503

    setattr(settings, limit, 0)

    assert publish(author).status_code == 201


def test_a_post_that_cannot_be_delivered_does_not_end_all_posts(author):
    aside = Post.objects.create(author_id=1, body="x", created_at=LONG_AGO)
    assert publish(author).status_code == 503

    Poison.objects.create(post=aside)

    assert publish(author).status_code == 201


def test_a_strategy_that_never_delivers_has_no_limit(author, settings):
    settings.FEED_STRATEGY = "null"
    Post.objects.create(author_id=1, body="x", created_at=LONG_AGO)

    assert publish(author).status_code == 201


def test_a_repeated_key_is_refused_like_a_new_post(author):
    """Whether it is stored isn't asked: it gets its post when there is room."""
    key = {"Idempotency-Key": "key"}
    first = publish(author, **key).json()
    Post.objects.update(created_at=LONG_AGO)
    assert publish(author, **key).json()["code"] == "backlog_full"

    deliver_pending(10)

    assert publish(author, **key).json()["id"] == first["id"]


@pytest.fixture
def crowd(settings):
    """Let at most six deliveries per author wait, and nine of person 1."""
    settings.FEED_BACKLOG_MAX_OF_AUTHOR = 6
    ten_s_ago = Now() - timedelta(seconds=10)
    Post.objects.bulk_create(Post(author_id=1, body="x", created_at=ten_s_ago) for _ in range(3))


def test_an_author_whose_deliveries_crowd_the_backlog_is_refused_and_nobody_else(crowd, author):
    assert publish(author).json()["code"] == "backlog_full"
    assert publish(client_of(2)).status_code == 201

    assert deliver_pending(10) == 4
    assert publish(author).status_code == 201


def test_nobody_is_refused_while_deliveries_are_not_behind(crowd, author):
    Post.objects.update(created_at=Now())

    assert publish(author).status_code == 201


def test_everything_but_posts_is_answered(author):
    Post.objects.create(author_id=1, body="x", created_at=LONG_AGO)
    assert publish(author).status_code == 503

    assert author.get("/v1/feed/").status_code == 200
    assert readiness().status_code == 200
    assert readiness().json()["posts"] == "refused: the oldest post waits for longer than 600 s"


def test_the_database_is_asked_once_per_second(author):
    publish(author)
    with CaptureQueriesContext(connection) as asked:
        for _ in range(10):
            author.post("/v1/posts/", {"body": "hello"}, format="json")

    assert sum("feed_poison" in query["sql"] for query in asked) == 0


def test_the_question_reads_few_rows(author):
    """Of an index: a backlog may be a million posts long."""
    Post.objects.bulk_create(Post(author_id=1, body="x") for _ in range(3000))
    middle = Post.objects.order_by("id")[1500]  # MySQL's INSERT returns no ids
    Post.objects.filter(id__lt=middle.id).update(delivered_at=LONG_AGO)
    analyze("feed_post", "feed_poison")

    plan = backlog._pending().not_set_aside().values("id")[:1].explain()

    assert "post_pending" in plan or "post_backlog" in plan
    assert "filesort" not in plan
    assert "Sort:" not in plan  # as MySQL 9 says it
    assert "TEMP B-TREE" not in plan
