"""Password changes in flight while people are banned: no token works afterwards."""

import threading

import pytest
import requests
from django.contrib.auth.hashers import make_password

from accounts.models import Person
from feed import people
from feed.models import Post
from runtime.remembered import forget_all
from tests.conftest import client_of, make_people

pytestmark = pytest.mark.alone
PEOPLE = 12
OLD, NEW = "a long pass phrase", "another long phrase"


@pytest.fixture
def url(live_server, settings):
    """A service where all of 12 people may change their passwords at once."""
    settings.MAX_HASHING = 0
    make_people(PEOPLE)
    Person.objects.update(password=make_password(OLD))
    return live_server.url


def change_password(url, person_id, found):
    headers = {"Authorization": client_of(person_id)._credentials["HTTP_AUTHORIZATION"]}
    asked = {"old_password": OLD, "new_password": NEW}
    answer = requests.post(f"{url}/v1/me/password/", json=asked, headers=headers, timeout=20)
    if answer.status_code == 200:
        found.append(answer.json()["access"])


@pytest.mark.parametrize("ban", [people.deactivate, people.delete])
def test_no_token_of_a_change_of_the_password_outlives_a_ban(url, ban):
    granted = []
    for person_id in range(1, PEOPLE + 1):
        change = threading.Thread(target=change_password, args=(url, person_id, granted))
        change.start()
        change.join(0.015 * person_id)  # it is in another of its steps each time
        ban(person_id)
        change.join(20)
        assert not change.is_alive()

    forget_all()  # as every process does within a second
    for token in granted:
        headers = {"Authorization": f"Bearer {token}"}
        post = requests.post(f"{url}/v1/posts/", json={"body": "x"}, headers=headers, timeout=20)
        assert post.status_code == 401
    assert not Post.objects.exists()
