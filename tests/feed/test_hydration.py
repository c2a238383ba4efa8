"""Posts come from the cache in one call, and deleted posts never show."""

import signal
import time
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection, transaction
from django.db.models.functions import Now
from django_redis import get_redis_connection
from redis.exceptions import RedisError, ResponseError

from config.cache import post_cache
from feed import epochs, hydration, people
from feed.hydration import forget, hydrate, mark_command
from feed.models import Post
from feed.services import delete_post, publish_post
from feed.timeline_stores import get_timeline_store
from runtime.redis_options import TIMEOUT_S
from tests.conftest import begin_with, client_of, redis_server, whole_timelines
from tests.proxies import proxy
from tests.sessions import analyze


@pytest.fixture
def cached(settings, redis_url, friends):
    """Three posts of person 1, with an empty cache on a real Redis."""
    settings.CACHES = settings.CACHES | {"posts": post_cache(redis_url)}
    caches["posts"].clear()
    return [publish_post(author_id=1, body=f"post {n}").post.id for n in range(3)]


def test_posts_come_in_the_requested_order(cached):
    ids = [cached[2], cached[0], cached[1]]

    assert list(hydrate(ids)) == ids
    assert list(hydrate(ids)) == ids


def test_a_cache_that_refuses_to_keep_a_post_fails_no_read(settings, friends, tmp_path):
    with redis_server(tmp_path) as (_, environment):
        settings.CACHES = settings.CACHES | {"posts": post_cache(environment["REDIS_URL"])}
        ids = [publish_post(author_id=1, body="text").post.id]
        get_redis_connection("posts").config_set("maxmemory", 1)

        assert list(hydrate(ids)) == ids
        with pytest.raises(ResponseError):
            forget(ids[0])  # or a deleted post could show


def test_only_what_the_cache_lacks_is_queried(cached, django_assert_num_queries):
    hydrate(cached[:2])

    with django_assert_num_queries(1) as made:
        hydrate(cached)

    assert f"IN ({cached[2]})" in made[0]["sql"]


def test_posts_are_found_by_their_ids_however_many_others_are_live(
    friends, django_assert_num_queries
):
    Post.objects.bulk_create(Post(author_id=1, body="text") for _ in range(3000))
    if connection.vendor == "postgresql":  # on MySQL it would commit the test's transaction
        analyze("feed_post")
    ids = list(Post.objects.order_by("id").values_list("id", flat=True)[:20])
    hydrate([])  # begins the epoch
    hydrate([])  # reads it

    with django_assert_num_queries(1) as made:
        hydrate(ids)

    with connection.cursor() as cursor:
        cursor.execute(connection.ops.explain_query_prefix() + " " + made[0]["sql"])
        key = "feed_post_pkey" if connection.vendor == "postgresql" else "PRIMARY"
        assert key in str(cursor.fetchall())


def test_a_cached_post_never_shows_after_its_deletion(cached):
    hydrate(cached)

    delete_post(person_id=1, post_id=cached[1])

    assert list(hydrate(cached)) == [cached[0], cached[2]]


def test_a_reader_in_the_middle_of_a_deletion_cannot_bring_the_post_back(cached):
    with transaction.atomic():
        forget(cached[0])
        assert len(hydrate(cached)) == 3  # reads the post while it is still there
        Post.objects.filter(id=cached[0]).update(body="", deleted_at="2026-01-01T00:00:00Z")

    assert list(hydrate(cached)) == cached[1:]


def with_the_mark():
    """Return the mark, which a feed reads along with its timeline."""
    _, key = mark_command(settings.CACHES["posts"]["LOCATION"])
    return get_redis_connection("posts").get(key) or b""


@pytest.fixture
def kept(cached):
    """The same posts, kept by this process."""
    for _ in range(3):  # the first reader makes the mark, and the next one fills the cache
        hydrate(cached, with_the_mark())
    return cached


def calls_of(read):
    """Return how many commands the cache gets, and what is read."""
    redis = get_redis_connection("posts")
    before = redis.info("stats")["total_commands_processed"]
    found = read()
    return redis.info("stats")["total_commands_processed"] - before - 1, found


def test_a_kept_post_never_shows_after_its_deletion(kept):
    delete_post(person_id=1, post_id=kept[1])

    assert list(hydrate(kept, with_the_mark())) == [kept[0], kept[2]]


def test_posts_that_were_read_during_a_deletion_are_not_kept(kept):
    before = with_the_mark()
    with transaction.atomic():
        forget(kept[0])
        assert len(hydrate(kept, before)) == 3
        assert len(hydrate(kept, with_the_mark())) == 3
        Post.objects.filter(id=kept[0]).update(body="", deleted_at="2026-01-01T00:00:00Z")

    assert list(hydrate(kept, with_the_mark())) == kept[1:]


def test_without_a_mark_nothing_is_kept(kept):
    get_redis_connection("posts").flushdb()
    Post.objects.filter(id=kept[0]).update(body="", deleted_at="2026-01-01T00:00:00Z")

    assert list(hydrate(kept, with_the_mark())) == kept[1:]


def test_nothing_is_kept_for_longer_than_in_the_cache(kept, monkeypatch):
    monkeypatch.setattr(hydration._kept._known, "until", 0)

    assert calls_of(lambda: list(hydrate(kept, with_the_mark())))[0] == 1 + 1  # and the mark


def test_a_failed_deletion_hides_nothing(cached):
    forget(cached[0])

    assert list(hydrate(cached)) == cached


@pytest.mark.parametrize("alias", ["setbased", "ring", "log"])
@pytest.mark.parametrize("fault", ["frozen", "killed"])
def test_while_redis_does_not_answer_feeds_come_from_the_database(
    fault, alias, settings, keep_timelines_at, tmp_path, friends
):
    settings.FEED_TIMELINE_STORE = alias
    with redis_server(tmp_path) as (process, environment):
        keep_timelines_at(environment["REDIS_URL"])
        settings.CACHES = settings.CACHES | {"posts": post_cache(environment["REDIS_URL"])}
        whole_timelines()
        posts = [publish_post(author_id=1, body="text").post for _ in range(3)]
        get_timeline_store().deliver(posts)
        client, shown = client_of(2), [post.id for post in reversed(posts)]
        for _ in range(3):  # until this process has kept the posts
            assert shown_to(client) == shown
        # Another process deletes it, and knows how to reach Redis.
        Post.objects.filter(id=shown[1]).update(body="", deleted_at="2026-01-01T00:00:00Z")

        process.send_signal(signal.SIGSTOP if fault == "frozen" else signal.SIGKILL)
        for seconds in (TIMEOUT_S + 0.7, 0.7):
            started = time.monotonic()
            assert shown_to(client) == [shown[0], shown[2]]
            assert time.monotonic() - started < seconds
        with pytest.raises(RedisError):
            delete_post(person_id=1, post_id=shown[0])  # or it would show again
        assert shown_to(client) == [shown[0], shown[2]]


def shown_to(client):
    answer = client.get("/v1/feed/")
    assert answer.status_code == 200
    return [post["id"] for post in answer.json()["posts"]]


def test_a_cold_page_costs_two_exchanges_with_the_cache(settings, redis_environment, friends):
    posts = [publish_post(author_id=1, body="text").post.id for _ in range(50)]
    with proxy(urlsplit(redis_environment["REDIS_URL"]).port) as link:
        url = f"redis://127.0.0.1:{link.port}"
        settings.CACHES = settings.CACHES | {"posts": post_cache(url)}
        caches["posts"].clear()
        before = link.exchanges

        assert list(hydrate(posts)) == posts
        cold = link.exchanges - before
        assert list(hydrate(posts)) == posts

    assert cold == 2  # what it has, and what it lacked
    assert link.exchanges - before == 2 + 1


@pytest.mark.parametrize("delete", ["post", "person"])
def test_a_deletion_while_an_epoch_begins_hides_the_post_in_it_too(
    delete, cached, undelayed, monkeypatch
):
    store, write = get_timeline_store(), people._write

    def meanwhile():
        """Another process reads the post, and knows the new epoch."""
        epochs.begin(store)
        assert list(hydrate(cached)) == cached
        epochs.forget()

    if delete == "post":
        monkeypatch.setattr("feed.services.Now", lambda: meanwhile() or Now())
        delete_post(person_id=1, post_id=cached[0])
        assert list(hydrate(cached)) == cached[1:]
    else:
        monkeypatch.setattr(people, "_write", lambda *what: meanwhile() or write(*what))
        people.delete(1)
        assert list(hydrate(cached)) == []


@pytest.fixture(params=["ring", "log"])
def store_in_redis(request, redis, settings, db):
    settings.FEED_TIMELINE_STORE = request.param
    begin_with(get_timeline_store())


def test_a_feed_of_kept_posts_is_one_exchange(store_in_redis, cached):
    client = client_of(1)
    pages = [client.get("/v1/feed/").json() for _ in range(4)]

    calls, answer = calls_of(lambda: client.get("/v1/feed/"))

    assert calls == 2  # the timeline and the mark, sent together
    assert len(answer.json()["posts"]) == 3
    assert pages == [answer.json()] * 4
