"""The probes, and the API's answers without the database."""

import time
from urllib.parse import urlsplit

import pytest
from django.db.backends.signals import connection_created

from feed.models import Post
from metrics.backlog import Backlog
from metrics.scrape import exposition
from tests.conftest import client_of, whole_timelines
from tests.proxies import proxy

pytestmark = pytest.mark.django_db(transaction=True)  # probes ask in threads of their own


@pytest.fixture
def anyone():
    return client_of(None)


@pytest.fixture
def link(redis_environment, keep_timelines_at, settings, friends):
    """A link to the Redis of the timelines."""
    url = urlsplit(redis_environment["REDIS_URL"])
    with proxy(url.port) as link:
        keep_timelines_at(url._replace(netloc=f"127.0.0.1:{link.port}").geturl())
        settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
        whole_timelines()
        yield link


def publish(client):
    return client.post("/v1/posts/", {"body": "hello"}, format="json")


def test_healthz_answers_until_the_process_is_leaving(anyone, settings, tmp_path):
    settings.WEB_LEAVING_FILE = tmp_path / "leaving"
    response = anyone.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "up"})

    settings.WEB_LEAVING_FILE.touch()
    assert anyone.get("/healthz").status_code == 503


def test_a_ready_service_without_a_backlog_says_so(anyone, author):
    publish(author)

    response = anyone.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {
        "status": "ready",
        "database": "ok",
        "store": "ok",
        "posts": "ok",
        "backlog": {"posts": 0, "oldest_age_s": None},
    }


def test_posts_that_wait_are_the_backlog_and_its_age_is_that_of_the_oldest(
    anyone, author, settings
):
    settings.FEED_STRATEGY = "null"
    oldest = Post.objects.create(author_id=1, body="x", created_at="2026-01-01T00:00:00Z")
    publish(author)

    first = anyone.get("/readyz").json()["backlog"]
    oldest.delete()
    second = anyone.get("/readyz").json()["backlog"]

    assert (first["posts"], second["posts"]) == (2, 1)
    assert first["oldest_age_s"] > 1000 > second["oldest_age_s"] >= 0


@pytest.mark.parametrize(("limit", "status"), [(0.0, 200), (3600.0, 503), (1e12, 200)])
def test_a_backlog_older_than_the_limit_is_unready(limit, status, anyone, friends, settings):
    settings.READY_BACKLOG_AGE_S = limit
    Post.objects.create(author_id=1, body="x", created_at="2026-01-01T00:00:00Z")

    assert anyone.get("/readyz").status_code == status


def test_the_backlogs_age_is_a_number_from_the_first_millisecond_on(anyone, friends):
    """The database's clock counts milliseconds, so some of these ages are exactly 0."""
    for _ in range(50):
        Post.objects.all().delete()
        Post.objects.create(author_id=1, body="x")

        assert isinstance(anyone.get("/readyz").json()["backlog"]["oldest_age_s"], float)


def test_without_its_database_the_service_is_up_and_not_ready(anyone, unreachable_database):
    assert anyone.get("/healthz").status_code == 200

    response = anyone.get("/readyz")

    assert response.status_code == 503
    assert response.json() == {"status": "unready", "database": "unavailable"}


def test_without_its_database_the_other_metrics_are_exported(
    unreachable_database, settings, tmp_path
):
    settings.METRICS_DIR = str(tmp_path)

    text = exposition(Backlog()).decode()

    assert "feed_database_up 0.0" in text
    assert "feed_service_info{" in text
    assert "feed_backlog_posts" not in text


def test_probes_keep_their_connections(anyone, friends):
    opened = []
    connection_created.connect(lambda **_: opened.append(1), weak=False, dispatch_uid="opened")
    for _ in range(5):
        anyone.get("/readyz")
    connection_created.disconnect(dispatch_uid="opened")

    assert len(opened) == 2  # one asks the database, one the store, whose epoch is in the database


def test_a_store_that_is_far_away_is_ready(anyone, link, settings):
    settings.READY_WITHIN_S = 1.5  # this machine may be busy
    link.delay_s = 0.05

    assert [anyone.get("/readyz").status_code for _ in range(5)] == [200] * 5


def test_a_store_that_does_not_answer_is_unready_in_time(anyone, link, settings):
    assert anyone.get("/readyz").status_code == 200
    link.is_silent = True
    began = time.monotonic()

    response = anyone.get("/readyz")

    assert (response.status_code, response.json()["store"]) == (503, "unavailable: no answer")
    assert time.monotonic() - began < 2 * settings.READY_WITHIN_S + 1


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("post", "/v1/posts/", {"body": "hello"}),
        ("get", "/v1/posts/1/", None),
        ("delete", "/v1/posts/1/", None),
        ("get", "/v1/feed/", None),
        ("get", "/v1/people/1/posts/", None),
        ("post", "/v1/token/", {"username": "person1", "password": "x"}),
    ],
)
def test_requests_get_503_and_retry_after_without_the_database(
    unreachable_database, method, path, data
):
    response = getattr(client_of(1), method)(path, data, format="json")

    assert response.status_code == 503
    assert response["Retry-After"] == "1"
    assert response["Content-Type"] == "application/json"
    assert response.json()["detail"]
