import pytest

from accounts import friendships
from accounts.blocks import block, unblock
from accounts.friendships import RequestState, ask, unfriend
from accounts.limits import Limited
from accounts.models import Block, FriendRequest, Friendship, Person
from accounts.services import UnknownPerson
from tests.conftest import client_of, make_people, whole_timelines
from tests.parallel import in_parallel


def pairs():
    return set(Friendship.objects.values_list("person_id", "friend_id"))


def requests():
    return set(FriendRequest.objects.values_list("person_id", "friend_id"))


def versions():
    return dict(Person.objects.values_list("id", "friends_version"))


def test_two_people_are_friends_both_ways_once_both_have_asked(friends):
    before = pairs()

    assert ask(4, 1) is RequestState.WAITING
    assert (pairs(), requests()) == (before, {(4, 1)})
    assert ask(1, 4) is RequestState.ACCEPTED

    assert (pairs(), requests()) == (before | {(1, 4), (4, 1)}, set())


def test_asking_again_changes_nothing(friends):
    before = pairs(), versions()

    assert [ask(4, 1), ask(4, 1), ask(1, 2)] == [
        RequestState.WAITING,
        RequestState.WAITING,
        RequestState.FRIENDS,
    ]

    assert requests() == {(4, 1)}
    assert (pairs(), versions()) == before


@pytest.mark.parametrize("end", [unfriend, block])
def test_a_friendship_ends_both_ways(end, friends):
    before = pairs()

    assert end(2, 1)
    assert not end(2, 1)

    assert pairs() == before - {(1, 2), (2, 1)}


@pytest.mark.parametrize("end", [unfriend, block])
@pytest.mark.parametrize("pair", [(4, 1), (1, 4)], ids=["withdrawn", "declined"])
def test_a_request_ends(pair, end, friends):
    ask(4, 1)

    assert not end(*pair)

    assert requests() == set()
    assert (1, 4) not in pairs()


def test_whoever_was_unfriended_cannot_come_back_alone(friends):
    unfriend(1, 2)

    assert [ask(2, 1), ask(2, 1)] == [RequestState.WAITING] * 2
    assert (1, 2) not in pairs()


@pytest.mark.parametrize("by", [(1, 4), (4, 1)])
def test_nobody_befriends_somebody_across_a_block_until_it_is_taken_back(by, friends):
    ask(4, 1)
    block(*by)

    for pair in ((1, 4), (4, 1)):
        with pytest.raises(Person.DoesNotExist):
            ask(*pair)
    unblock(*by)

    assert [ask(1, 4), ask(4, 1)] == [RequestState.WAITING, RequestState.ACCEPTED]


def test_both_get_a_version_that_they_had_not(friends):
    unfriend(1, 2)
    first = versions()
    ask(1, 2)
    ask(2, 1)
    second = versions()

    assert len({first[1], second[1], None}) == len({first[2], second[2], None}) == 3
    assert first[3] is second[3] is None


@pytest.mark.parametrize(
    ("change", "pair", "error"),
    [
        (ask, (1, 1), ValueError),
        (ask, (1, 99), Person.DoesNotExist),
        (ask, (99, 1), UnknownPerson),
        (block, (1, 1), ValueError),
        (block, (99, 1), UnknownPerson),
        (unfriend, (99, 1), UnknownPerson),
    ],
)
def test_what_is_impossible_is_refused_and_nothing_changes(change, pair, error, friends):
    before = pairs(), versions()

    with pytest.raises(error):
        change(*pair)

    assert (pairs(), versions()) == before
    assert requests() == set()
    assert not Block.objects.exists()


def test_only_so_many_requests_of_a_person_wait_even_in_parallel(transactional_db, monkeypatch):
    monkeypatch.setattr(friendships, "MOST_WAITING", 3)
    make_people(9)

    answers = in_parallel([lambda n=n: ask(1, n) for n in range(2, 10)])

    refused = [it for it in answers if isinstance(it, Limited)]
    assert (len(refused), len(requests())) == (5, 3)
    unfriend(*requests().pop())
    assert sum(not isinstance(answer, Exception) for answer in answers) == 3
    assert ask(9, 1) is RequestState.WAITING or (1, 9) in pairs()


def test_requests_that_cross_in_parallel_make_one_friendship(transactional_db):
    make_people(2)

    for _ in range(10):
        answers = in_parallel([lambda: ask(1, 2), lambda: ask(2, 1)])

        assert set(answers) == {RequestState.WAITING, RequestState.ACCEPTED}
        assert (pairs(), requests()) == ({(1, 2), (2, 1)}, set())
        unfriend(1, 2)


def test_an_accept_that_races_with_a_withdrawal_leaves_one_of_both(transactional_db):
    make_people(2)

    for _ in range(10):
        ask(1, 2)
        accepted, ended = in_parallel([lambda: ask(2, 1), lambda: unfriend(1, 2)])

        # Withdrawn first: the other's answer is a request. Accepted first: the friendship ended.
        assert (accepted, ended) in {(RequestState.WAITING, False), (RequestState.ACCEPTED, True)}
        assert pairs() == set()
        assert requests() == (set() if ended else {(2, 1)})
        unfriend(1, 2)


def test_a_block_wins_against_an_accept_in_parallel(transactional_db):
    make_people(2)

    for _ in range(10):
        ask(1, 2)
        in_parallel([lambda: ask(2, 1), lambda: block(1, 2)])

        assert (pairs(), requests()) == (set(), set())
        unblock(1, 2)


def test_friends_are_made_and_listed_over_the_api(friends):
    client, other = client_of(4), client_of(1)

    assert client.get("/v1/me/friends/").json() == {"friends": []}
    asked = client.put("/v1/me/friends/1/")
    assert (asked.status_code, asked.json()) == (202, {"state": "requested"})
    client.put("/v1/me/friends/3/")
    assert client.get("/v1/me/friends/").json() == {"friends": []}
    assert client.get("/v1/me/friend-requests/").json() == {"received": [], "sent": [3, 1]}
    assert other.get("/v1/me/friend-requests/").json() == {"received": [4], "sent": []}
    assert [other.put("/v1/me/friends/4/").status_code for _ in range(2)] == [204, 204]
    assert client.put("/v1/me/friends/1/").status_code == 204
    assert client.get("/v1/me/friends/").json() == {"friends": [1]}
    assert other.get("/v1/me/friends/").json() == {"friends": [2, 3, 4]}
    assert client_of(3).delete("/v1/me/friends/4/").status_code == 204
    assert client.get("/v1/me/friend-requests/").json() == {"received": [], "sent": []}
    assert client.delete("/v1/me/friends/1/").status_code == 204
    assert client.get("/v1/me/friends/").json() == {"friends": []}


def test_a_block_hides_two_people_from_each_other_over_the_api(friends):
    one, two = client_of(1), client_of(2)

    assert [one.put("/v1/me/blocks/2/").status_code for _ in range(2)] == [204, 204]

    assert one.get("/v1/me/blocks/").json() == {"blocks": [2]}
    assert two.get("/v1/me/blocks/").json() == {"blocks": []}
    for client, other in ((one, 2), (two, 1)):
        assert client.put(f"/v1/me/friends/{other}/").status_code == 404
        assert client.get(f"/v1/people/{other}/posts/").status_code == 404
        assert client.get("/v1/me/friends/").json() == {"friends": [3]}
    assert two.delete("/v1/me/blocks/1/").status_code == 204  # there is none
    assert two.put("/v1/me/friends/1/").status_code == 404
    assert one.delete("/v1/me/blocks/2/").status_code == 204
    assert two.put("/v1/me/friends/1/").status_code == 202


def test_whoever_is_blocked_may_block_too_and_unknown_people_answer_the_same(friends):
    block(1, 2)

    for unknown in (1, 99, 2**62):
        assert client_of(2).put(f"/v1/me/blocks/{unknown}/").status_code == 204
    unblock(1, 2)

    assert client_of(1).get("/v1/people/2/posts/").status_code == 404


def test_too_many_requests_say_when_to_come_back(friends, monkeypatch):
    monkeypatch.setattr(friendships, "MOST_WAITING", 1)
    client = client_of(4)

    answers = [client.put(f"/v1/me/friends/{n}/") for n in (1, 2, 1)]

    assert [it.status_code for it in answers] == [202, 429, 202]
    assert int(answers[1]["Retry-After"]) > 0


def test_new_requests_are_limited_and_answers_are_not(friends, settings):
    settings.FRIEND_REQUESTS = {"burst": 1, "per_s": 1 / 3600}
    client = client_of(4)
    ask(3, 4)

    asked = [client.put(f"/v1/me/friends/{n}/") for n in (1, 2, 1, 3)]

    assert [it.status_code for it in asked] == [202, 429, 202, 204]
    assert 3500 < int(asked[1]["Retry-After"]) <= 3600


@pytest.mark.parametrize("path", ["friends", "blocks"])
@pytest.mark.parametrize("method", ["put", "delete"])
def test_whoever_was_deleted_is_refused(method, path, friends):
    assert getattr(client_of(99), method)(f"/v1/me/{path}/1/").status_code in (401, 204)
    assert not Block.objects.exists()


@pytest.mark.parametrize(("friend", "status"), [(1, 400), (99, 404), (0, 404), (2**63, 404)])
def test_an_impossible_friend_is_refused(author, friend, status):
    before = pairs()

    answer = author.put(f"/v1/me/friends/{friend}/")

    assert answer.status_code == status
    assert answer.json()
    assert pairs() == before


def test_a_post_goes_to_the_friends_at_its_delivery(author, settings):
    settings.FEED_TIMELINE_STORE = "setbased"
    whole_timelines()
    author.put("/v1/me/friends/4/")
    client_of(4).put("/v1/me/friends/1/")
    author.delete("/v1/me/friends/2/")

    post = author.post("/v1/posts/", {"body": "hello"}, format="json").json()

    feeds = [client_of(n).get("/v1/feed/").json()["posts"] for n in (1, 2, 3, 4)]
    assert feeds == [[post], [], [post], [post]]
