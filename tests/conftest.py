import contextlib
import os
import re
from collections import Counter
from pathlib import Path

import hypothesis
import psutil
import pytest
from django.conf import settings as django_settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.expressions import DatabaseDefault
from django.db.models.signals import post_migrate, post_save
from django.test import override_settings
from kombu import pools
from redis import Redis, RedisCluster

from accounts import follows
from accounts.authentication import access_tokens
from accounts.models import Follow, Person
from feed import delivery, epochs, health
from feed.follows import ask
from feed.models import Epoch, Post
from feed.timeline import rebuild
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.redis_cluster import SCHEME
from launch import servers
from launch.processes import Processes
from runtime.remembered import forget_all
from tests.backends import REDIS_STORES
from tests.described import Client, paths
from tests.workers.embedded import Worker

hypothesis.settings.register_profile("any machine", deadline=None)  # others may be busy
hypothesis.settings.load_profile("any machine")

if django_settings.SETTINGS_MODULE != "tests.replays.settings":
    collect_ignore = ["replays"]


def pytest_collection_modifyitems(items):
    twice = [name for name, count in Counter(item.nodeid for item in items).items() if count > 1]
    if twice:  # of such tests, pytest-xdist runs one
        raise pytest.UsageError(f"tests of one name: {', '.join(twice)}")
    for item in items:
        if {"redis_environment", "celery_worker"} & set(item.fixturenames):
            item.add_marker("servers")
    # Processes take longest, so their files begin; pytest-django puts what uses no database last.
    databases = {"db", "transactional_db"}
    using_one = {item.path for item in items if databases & set(item.fixturenames)}
    items.sort(key=lambda item: item.path in using_one)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory, django_db_modify_db_settings_parallel_suffix):
    """With SQLite a file, as in production: an in-memory database locks differently.

    On MySQL each of several parallel processes has a database with its own suffix.
    """
    path: Path = tmp_path_factory.mktemp("database") / "test.sqlite3"
    if django_settings.DATABASES["default"]["ENGINE"] == "db.sqlite":
        django_settings.DATABASES["default"]["TEST"]["NAME"] = str(path)


@pytest.fixture(scope="session", autouse=True)
def own_slots(tmp_path_factory):
    """Let no other process hash in the slots of these tests."""
    django_settings.HASHING_SLOTS_DIR = str(tmp_path_factory.mktemp("slots"))


@pytest.fixture(scope="session", autouse=True)
def quickly_emptied():
    """After a test with transactions of its own, make no permissions again: nobody has any.

    PostgreSQL deletes the few rows, since TRUNCATE makes new files.
    """
    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    if connection.vendor == "postgresql":
        type(connection.ops).sql_flush = lambda self, style, tables, **_: [
            f'DELETE FROM "{table}"' for table in tables
        ]


@pytest.fixture(autouse=True)
def fresh_process():
    """Let no test know what another one has asked, nor use its connections."""
    forget_all()


@pytest.fixture(scope="session", autouse=True)
def probes_outside_transactions():
    """Probes ask in threads of their own: what these commit is not rolled back with a test."""
    for question in (health._database, health._counts, health._store):
        question.ask = _outside_transactions(question.ask)


def _outside_transactions(ask):
    def checked():
        assert not connection.in_atomic_block, "a test that probes needs transactional_db"
        return ask()

    return checked


@pytest.fixture
def undelayed(monkeypatch):
    """Look after the store before each batch, and don't wait for other processes."""
    monkeypatch.setattr(epochs, "CLOSED_S", 0)
    monkeypatch.setattr(epochs._known, "for_s", 0)
    monkeypatch.setattr(delivery, "LOOK_AFTER_EVERY_S", 0)


@pytest.fixture(scope="session", autouse=True)
def created_posts_have_times():
    """Read what the database set: MySQL, other than the rest, returns no columns of an INSERT."""

    def read(instance, created, **_):
        if created and isinstance(instance.created_at, DatabaseDefault):
            instance.refresh_from_db(fields=["created_at"])

    post_save.connect(read, Post, weak=False)


@pytest.fixture
def unreachable_database(transactional_db):
    name = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = "/nowhere/feed.sqlite3"
    yield
    connection.close()
    connection.settings_dict["NAME"] = name


def database_url():
    """The URL of the test database, for another process."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    scheme = database["ENGINE"].removeprefix("db.")  # mysql or postgresql
    return f"{scheme}://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


@contextlib.contextmanager
def redis_server(folder):
    """A private server without persistence: yields its process and the service's settings."""
    with Processes(folder / "logs") as processes:
        server = servers.Redis(processes, folder / "redis", "local")
        server.start()
        (process,) = map(psutil.Process, processes.pids(server.role))
        try:
            yield process, server.environment
        finally:
            if process.is_running():
                process.resume()  # a test may have frozen it


@pytest.fixture(scope="session")
def redis_environment(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis")) as (_, environment):
        yield environment


@contextlib.contextmanager
def redis_cluster(folder, primaries=3):
    """A private cluster, each primary with a replica."""
    with Processes(folder / "logs") as processes:
        cluster = servers.Cluster(processes, folder / "cluster", "local", primaries=primaries)
        cluster.start()
        yield cluster


@pytest.fixture(scope="session")
def redis_url(request, tmp_path_factory):
    """Where the Redis stores keep timelines; TIMELINES=cluster3 runs their contract there."""
    if named := re.fullmatch(r"cluster(\d+)", os.environ.get("TIMELINES", "")):
        with redis_cluster(tmp_path_factory.mktemp("cluster"), int(named[1])) as cluster:
            yield cluster.environment["TIMELINE_URL"]
    else:
        yield request.getfixturevalue("redis_environment")["REDIS_URL"]


@pytest.fixture
def keep_timelines_at(settings):
    """Point the Redis stores at a server."""

    def point(url, **options):
        stores = {
            alias: {**settings.FEED_TIMELINE_STORES[alias], "OPTIONS": {"url": url, **options}}
            for alias in REDIS_STORES
        }
        settings.FEED_TIMELINE_STORES = settings.FEED_TIMELINE_STORES | stores

    return point


@pytest.fixture
def redis(redis_url, keep_timelines_at):
    """The client of an empty private server, which the Redis stores use."""
    keep_timelines_at(redis_url)
    if redis_url.startswith(SCHEME):
        first, *_ = redis_url.removeprefix(SCHEME).split(",")
        client = RedisCluster.from_url(f"redis://{first}")
    else:
        client = Redis.from_url(redis_url)
    with contextlib.closing(client):
        client.flushdb()
        yield client


@pytest.fixture
def keep_few(settings, redis_url, redis, keep_timelines_at):
    """Let stores keep so many posts per timeline; ``log`` compacts beyond so many records."""

    def keep(capacity, *, log_records):
        keep_timelines_at(redis_url, capacity=capacity)
        table = settings.FEED_TIMELINE_STORES
        log = {"url": redis_url, "capacity": capacity, "log_records": log_records}
        settings.FEED_TIMELINE_STORES = table | {
            "packed": table["packed"] | {"OPTIONS": {"capacity": capacity}},
            "log": table["log"] | {"OPTIONS": log},
        }

    return keep


@pytest.fixture(scope="session")
def celery_worker(redis_environment):
    """A Celery worker for the whole test session."""
    celery = django_settings.FEED_QUEUES["celery"]
    here = celery | {"OPTIONS": {"url": redis_environment["BROKER_URL"]}}
    with override_settings(FEED_QUEUES=django_settings.FEED_QUEUES | {"celery": here}):
        with Worker().running() as worker:
            yield worker
        pools.reset()


@pytest.fixture
def worker(celery_worker, transactional_db):
    """The Celery worker without finished tasks, on its own broker."""
    celery_worker.forget()
    yield celery_worker
    celery_worker.settle()


def make_people(count, friends=()):
    """Persons 1 … count, and a mutual friendship for each pair of ids."""
    Person.objects.bulk_create(
        Person(id=n, username=f"person{n}", password="!") for n in range(1, count + 1)
    )
    Follow.objects.bulk_create(
        Follow(author_id=a, reader_id=b) for pair in friends for a, b in (pair, pair[::-1])
    )


def befriend(person_id, friend_id):
    """Let two people ask each other."""
    ask(person_id, friend_id)
    ask(friend_id, person_id)


def end_friendship(person_id, friend_id):
    """End it in the database alone, whatever timelines show; return what has ended."""
    return follows.end(person_id, follows.both_ways(person_id, friend_id))


def begin_with(store):
    """Let the database's timelines be in this store, as if there had never been another one."""
    Epoch.objects.exclude(store=store.alias).delete()
    epochs.forget()
    return store


def whole_timelines():
    """Begin with the store in the settings, load everybody's timeline, and return the store."""
    people = list(Person.objects.values_list("id", flat=True))
    store = begin_with(get_timeline_store())
    epochs.get_or_begin(store)
    rebuild(store, people)
    return store


@pytest.fixture
def follows_api(settings):
    """The API of a service with FEED_EDGES=follows."""

    settings.FEED_EDGES, settings.ROOT_URLCONF = "follows", "tests.follows_urls"
    paths.cache_clear()
    yield
    paths.cache_clear()


def client_of(person_id):
    """Return an API client with the person's token."""
    client = Client()
    if person_id is not None:
        ((_, token),) = access_tokens([person_id])
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def assert_refused(response, status):
    """Assert that it is refused, with the reason as JSON."""
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response.json()


@pytest.fixture
def friends(db):
    """Persons 1, 2, 3 are friends of each other; 4 has no friends."""
    make_people(4, [(1, 2), (1, 3), (2, 3)])


@pytest.fixture
def author(friends):
    """The client of person 1."""
    return client_of(1)
