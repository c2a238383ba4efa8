import pytest
from rest_framework.exceptions import ValidationError

from accounts import follows, selectors
from accounts.blocks import block, unblock
from accounts.follows import Edge, RequestState, accept, ask, end, follow
from accounts.limits import Limited
from accounts.models import Block, Follow, FriendRequest, Person
from accounts.services import UnknownPerson, set_private
from tests.conftest import client_of, end_friendship, make_people
from tests.parallel import in_parallel


def pairs():
    return set(Follow.objects.values_list("author_id", "reader_id"))


def requests():
    return set(FriendRequest.objects.values_list("person_id", "friend_id"))


def versions():
    return dict(Person.objects.values_list("id", "friends_version"))


def test_two_people_are_friends_both_ways_once_both_have_asked(friends):
    before = pairs()

    assert [ask(4, 1), ask(4, 1)] == [RequestState.WAITING] * 2
    assert (pairs(), requests()) == (before, {(4, 1)})
    assert ask(1, 4) is RequestState.ACCEPTED
    made = versions()
    assert [ask(1, 4), ask(4, 1)] == [RequestState.BEGUN] * 2

    assert (pairs(), requests(), versions()) == (before | {(1, 4), (4, 1)}, set(), made)


@pytest.mark.parametrize("end_it", [end_friendship, block])
def test_a_friendship_ends_both_ways_and_nobody_resumes_it_alone(end_it, friends):
    before = pairs()

    assert end_it(1, 2)
    assert not end_it(1, 2)
    unblock(1, 2)
    assert [ask(2, 1), ask(2, 1)] == [RequestState.WAITING] * 2

    assert pairs() == before - {(1, 2), (2, 1)}


@pytest.mark.parametrize("end_it", [end_friendship, block])
@pytest.mark.parametrize("pair", [(4, 1), (1, 4)], ids=["withdrawn", "declined"])
def test_a_request_ends(pair, end_it, friends):
    ask(4, 1)

    assert not end_it(*pair)

    assert requests() == set()
    assert (1, 4) not in pairs()


def test_both_get_a_version_that_they_had_not(friends):
    end_friendship(1, 2)
    first = versions()
    ask(1, 2)
    ask(2, 1)
    second = versions()

    assert len({first[1], second[1], None}) == len({first[2], second[2], None}) == 3
    assert first[3] is second[3] is None


@pytest.mark.parametrize(
    ("change", "pair", "error"),
    [
        (ask, (1, 1), ValidationError),
        (ask, (1, 99), Person.DoesNotExist),
        (ask, (99, 1), UnknownPerson),
        (block, (1, 1), ValidationError),
        (block, (99, 1), UnknownPerson),
        (end_friendship, (99, 1), UnknownPerson),
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
    monkeypatch.setattr(follows, "MOST_WAITING", 3)
    make_people(10)

    answers = in_parallel([lambda n=n: ask(1, n) for n in range(2, 10)])

    refused = [error for error in answers if isinstance(error, Limited)]
    assert (len(refused), len(requests())) == (5, 3)
    assert answers.count(RequestState.WAITING) == 3
    assert ask(*min(requests())) is RequestState.WAITING  # again
    end_friendship(*min(requests()))
    assert ask(1, 10) is RequestState.WAITING


def test_requests_that_cross_in_parallel_make_one_friendship(transactional_db):
    make_people(2)

    for _ in range(10):
        answers = in_parallel([lambda: ask(1, 2), lambda: ask(2, 1)])

        assert set(answers) == {RequestState.WAITING, RequestState.ACCEPTED}
        assert (pairs(), requests()) == ({(1, 2), (2, 1)}, set())
        end_friendship(1, 2)


def test_an_accept_that_races_with_a_withdrawal_leaves_one_of_both(transactional_db):
    make_people(2)

    for _ in range(10):
        ask(1, 2)
        accepted, ended = in_parallel([lambda: ask(2, 1), lambda: end_friendship(1, 2)])

        # Withdrawn first: the other's answer is a request. Accepted first: the friendship ended.
        assert (accepted, bool(ended)) in {
            (RequestState.WAITING, False),
            (RequestState.ACCEPTED, True),
        }
        assert (pairs(), requests()) == (set(), set() if ended else {(2, 1)})
        end_friendship(1, 2)


def test_a_block_wins_against_an_accept_in_parallel(transactional_db):
    make_people(2)

    for _ in range(10):
        ask(1, 2)
        in_parallel([lambda: ask(2, 1), lambda: block(1, 2)])

        assert (pairs(), requests()) == (set(), set())
        unblock(1, 2)


def test_requests_friends_and_blocks_are_listed_over_the_api(friends):
    client, other = client_of(4), client_of(1)
    asked = client.put("/v1/me/friends/1/")
    client.put("/v1/me/friends/3/")

    assert (asked.status_code, asked.json()) == (202, {"state": "requested"})
    assert client.get("/v1/me/friend-requests/").json() == {"received": [], "sent": [3, 1]}
    assert other.get("/v1/me/friend-requests/").json() == {"received": [4], "sent": []}
    assert [other.put("/v1/me/friends/4/").status_code for _ in range(2)] == [204, 204]
    assert other.get("/v1/me/friends/").json() == {"friends": [2, 3, 4]}
    assert [other.put("/v1/me/blocks/2/").status_code for _ in range(2)] == [204, 204]
    assert other.get("/v1/me/friends/").json() == {"friends": [3, 4]}
    assert other.get("/v1/me/blocks/").json() == {"blocks": [2]}
    assert client_of(2).get("/v1/me/blocks/").json() == {"blocks": []}


def test_whoever_is_blocked_may_block_too_and_unknown_people_answer_the_same(friends):
    block(1, 2)

    for unknown in (1, 99, 2**62):
        assert client_of(2).put(f"/v1/me/blocks/{unknown}/").status_code == 204
    unblock(1, 2)

    assert client_of(1).get("/v1/people/2/posts/").status_code == 404


def test_new_requests_are_limited_and_answers_are_not(friends, settings):
    settings.FRIEND_REQUESTS = {"burst": 1, "per_s": 1 / 3600}
    client = client_of(4)
    ask(3, 4)

    asked = [client.put(f"/v1/me/friends/{n}/") for n in (1, 2, 1, 3)]

    assert [answer.status_code for answer in asked] == [202, 429, 202, 204]
    assert 3500 < int(asked[1]["Retry-After"]) <= 3600


def test_whoever_follows_reads_and_is_not_read(friends):
    before, made = pairs(), versions()

    assert [follow(4, 1), follow(4, 1)] == [RequestState.ACCEPTED, RequestState.BEGUN]

    assert (pairs(), requests()) == (before | {(1, 4)}, set())
    assert {n for n, version in versions().items() if version != made[n]} == {1, 4}


def test_who_is_private_accepts_followers(friends):
    before = pairs()
    set_private(1, is_private=True)

    assert [follow(4, 1), follow(4, 1)] == [RequestState.WAITING] * 2
    assert (pairs(), requests()) == (before, {(4, 1)})
    assert [accept(1, 4), accept(1, 4)] == [True, False]

    assert (pairs(), requests()) == (before | {(1, 4)}, set())


@pytest.mark.parametrize("begin", [ask, follow, accept])
@pytest.mark.parametrize("pair", [(1, 4), (4, 1)])
def test_nothing_begins_across_a_block(pair, begin, friends):
    set_private(1, is_private=True)
    follow(4, 1)
    block(1, 4)

    with pytest.raises(Person.DoesNotExist):
        begin(*pair)

    assert requests() == set()


def test_nobody_accepts_who_has_not_asked(friends):
    with pytest.raises(FriendRequest.DoesNotExist):
        accept(1, 4)


@pytest.mark.parametrize("by", [1, 4])
def test_one_direction_ends_alone(by, friends):
    follow(4, 1)
    follow(1, 4)

    assert end(by, [Edge(1, 4)]) == [Edge(1, 4)]

    assert (4, 1) in pairs() - {(1, 4)}
    assert (1, 4) not in pairs()


def test_a_follow_that_races_with_a_block_ends_with_it(transactional_db):
    make_people(2)

    for _ in range(10):
        in_parallel([lambda: follow(1, 2), lambda: block(2, 1)])

        assert pairs() == set()
        unblock(2, 1)


def test_followers_are_listed_in_pages_over_the_api(follows_api, db, monkeypatch):
    make_people(6)
    monkeypatch.setattr(selectors, "MOST_LISTED", 2)
    answers = [client_of(n).put("/v1/me/following/1/").status_code for n in (6, 3, 5)]
    client = client_of(1)
    client.put("/v1/me/following/3/")

    first = client.get("/v1/me/followers/").json()
    second = client.get(first["next"]).json()

    assert answers == [204] * 3
    assert (first["followers"], second) == ([3, 5], {"followers": [6], "next": None})
    assert client.get("/v1/me/following/").json() == {"following": [3], "next": None}
    assert client.get("/v1/me/followers/?after=-1").status_code == 400


def test_requests_of_followers_are_answered_over_the_api(follows_api, friends):
    owner, other = client_of(1), client_of(4)
    owner.put("/v1/me/private/")

    asked = other.put("/v1/me/following/1/")
    assert (asked.status_code, asked.json()) == (202, {"state": "requested"})
    assert owner.get("/v1/me/follow-requests/").json() == {"received": [4], "sent": []}
    assert [owner.put(f"/v1/me/followers/{n}/").status_code for n in (4, 4, 2, 99)] == [
        204,
        204,
        204,
        404,
    ]
    assert owner.get("/v1/me/followers/").json()["followers"] == [2, 3, 4]
    assert owner.delete("/v1/me/followers/4/").status_code == 204
    assert other.get("/v1/me/following/").json()["following"] == []
    owner.delete("/v1/me/private/")
    assert [
        other.put("/v1/me/following/1/").status_code,
        other.delete("/v1/me/following/1/").status_code,
    ] == [204, 204]
