from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connection
from rest_framework.test import APIClient

from accounts.authentication import access_tokens
from accounts.models import Friendship, Person
from feed.timelines import get_timeline


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory):
    """With SQLite a file, as in production: an in-memory database locks in its own way."""
    path: Path = tmp_path_factory.mktemp("database") / "test.sqlite3"
    if django_settings.DATABASES["default"]["ENGINE"] == "config.sqlite":
        django_settings.DATABASES["default"]["TEST"]["NAME"] = str(path)


@pytest.fixture(autouse=True)
def empty_memory_timelines(settings):
    yield
    if settings.FEED_TIMELINE == "memory":
        get_timeline().clear()


def database_url():
    """The test database, for a process of its own."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return f"mysql://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


def make_people(count, friends=()):
    """Persons 1 … count, and a mutual friendship for each pair of ids."""
    Person.objects.bulk_create(
        Person(id=n, username=f"person{n}", password="!") for n in range(1, count + 1)
    )
    Friendship.objects.bulk_create(
        Friendship(person_id=a, friend_id=b) for pair in friends for a, b in (pair, pair[::-1])
    )


def client_of(person_id):
    """An API client with the person's token; it does not raise what the server answers as 500."""
    client = APIClient(raise_request_exception=False)
    if person_id is not None:
        ((_, token),) = access_tokens([person_id])
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


@pytest.fixture
def friends(db):
    """Persons 1, 2, 3 are friends of each other; 4 is a stranger to them."""
    make_people(4, [(1, 2), (1, 3), (2, 3)])


@pytest.fixture
def author(friends):
    """The client of person 1."""
    return client_of(1)
