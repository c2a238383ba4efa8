import pytest

from accounts.friendships import befriend, unfriend
from accounts.models import Friendship, Person
from tests.conftest import client_of, whole_timelines


def pairs():
    return set(Friendship.objects.values_list("person_id", "friend_id"))


def versions():
    return dict(Person.objects.values_list("id", "friends_version"))


def test_a_friendship_goes_both_ways(friends):
    before = pairs()

    befriend(4, 1)

    assert pairs() == before | {(1, 4), (4, 1)}


def test_an_existing_friendship_stays(friends):
    before = pairs()

    befriend(1, 2)

    assert pairs() == before


def test_a_friendship_ends_both_ways(friends):
    before = pairs()

    unfriend(2, 1)
    unfriend(2, 1)

    assert pairs() == before - {(1, 2), (2, 1)}


@pytest.mark.parametrize("change", [befriend, unfriend])
def test_both_get_a_version_that_neither_had(change, friends):
    change(1, 2)
    first = versions()
    change(1, 2)
    second = versions()

    assert len({first[1], first[2], second[1], second[2], None}) == 5
    assert first[3] is second[3] is None


@pytest.mark.parametrize("change", [befriend, unfriend])
@pytest.mark.parametrize(
    ("pair", "error"),
    [((1, 1), ValueError), ((1, 99), Person.DoesNotExist), ((99, 1), Person.DoesNotExist)],
)
def test_an_impossible_friendship_is_refused_and_nothing_changes(change, pair, error, friends):
    before = pairs(), versions()

    with pytest.raises(error):
        change(*pair)

    assert (pairs(), versions()) == before


def test_friends_are_made_and_listed_over_the_api(friends):
    client = client_of(4)

    assert client.get("/v1/me/friends/").json() == {"friends": []}
    assert [client.put(f"/v1/me/friends/{n}/").status_code for n in (3, 1, 3)] == [204] * 3
    assert client.get("/v1/me/friends/").json() == {"friends": [1, 3]}
    assert client_of(1).get("/v1/me/friends/").json() == {"friends": [2, 3, 4]}
    assert client.delete("/v1/me/friends/1/").status_code == 204
    assert client.get("/v1/me/friends/").json() == {"friends": [3]}


@pytest.mark.parametrize(("friend", "status"), [(1, 400), (99, 404), (0, 404), (2**63, 404)])
@pytest.mark.parametrize("method", ["put", "delete"])
def test_an_impossible_friend_is_refused(author, method, friend, status):
    before = pairs()

    answer = getattr(author, method)(f"/v1/me/friends/{friend}/")

    assert answer.status_code == status
    assert answer.json()
    assert pairs() == before


def test_a_post_goes_to_the_friends_at_its_delivery(author, settings):
    settings.FEED_TIMELINE_STORE = "setbased"
    whole_timelines()
    author.put("/v1/me/friends/4/")
    author.delete("/v1/me/friends/2/")

    post = author.post("/v1/posts/", {"body": "hello"}, format="json").json()

    feeds = [client_of(n).get("/v1/feed/").json()["posts"] for n in (1, 2, 3, 4)]
    assert feeds == [[post], [], [post], [post]]
