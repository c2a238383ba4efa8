"""Who is told what, from the database."""

import json

import pytest
from django.db.models.functions import Now

from accounts.authentication import access_tokens
from accounts.services import set_active
from feed import journal
from feed.journal import Position
from feed.models import Celebrity, Post
from feed.services import delete_post
from stream import reading
from stream.reading import Behind, Reading
from tests.conftest import end_friendship

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reader(friends):
    return Reading()


def deliver(author_id, count=1):
    posts = [Post.objects.create(author_id=author_id, body="x\n\ny") for _ in range(count)]
    ids = [post.id for post in posts]
    Post.objects.filter(id__in=ids).update(delivered_at=Now())
    return ids


def events(text):
    """Parse server-sent events: (event, data, id) each."""
    found = []
    for block in (text or b"").decode().split("\n\n")[:-1]:
        fields = dict(
            line.split(": ", 1) for line in block.splitlines() if not line.startswith(":")
        )
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"]), fields["id"]))
    return found


def shown(text):
    return [(event, data.get("id")) for event, data, _ in events(text)]


def read(reader, *people, behind=()):
    return reader.read(set(people), behind)


def test_friends_and_the_author_are_told_of_a_delivery(reader):
    (post_id,) = deliver(1)
    told = read(reader, 1, 2, 4)

    assert {person: shown(text) for person, text in told.current.items()} == {
        1: [("post", post_id)],
        2: [("post", post_id)],
    }


def test_an_event_has_the_same_post_as_a_page(reader, author):
    author.post("/v1/posts/", {"body": "line\nbreak"}, format="json")
    Post.objects.update(delivered_at=Now())
    told = read(reader, 1)

    ((_, post, _),) = events(told.current[1])
    assert post == author.get("/v1/feed/").json()["posts"][0]


def test_a_deletion_is_told_and_its_post_no_more(reader):
    first, second = deliver(1, 2)
    begin = reader.end
    read(reader)
    delete_post(person_id=1, post_id=first)
    told = read(reader, 2, behind=[Behind(3, begin)])

    assert shown(told.current[2]) == [("gone", first)]
    assert shown(told.behind[0]) == [("post", second), ("gone", first)]


def test_a_former_friend_is_told_nothing_that_was_delivered_before(reader):
    begin = reader.end
    deliver(1)
    end_friendship(1, 2)
    told = read(reader, 2, 3, behind=[Behind(2, begin)])

    assert list(told.current) == [3]
    assert shown(told.behind[0]) == []


def test_a_friendship_that_ends_while_posts_are_read_counts(reader, monkeypatch):
    begin = reader.end
    deliver(1)

    def too_late(ids, hydrate=reading.hydrate):
        posts = hydrate(ids)
        end_friendship(1, 2)
        return posts

    monkeypatch.setattr(reading, "hydrate", too_late)

    assert read(reader, 3, behind=[Behind(2, begin)]).changed == {2}


def test_whose_friends_have_changed_is_known_before_anything_is_told(reader):
    read(reader, 2, 3)
    end_friendship(1, 2)
    deliver(1)

    assert read(reader, 2, 3).changed == {2}
    deliver(1)
    told = read(reader, 2, 3)
    assert (list(told.current), told.changed) == ([3], set())


def test_a_change_of_friends_is_known_without_news(reader):
    read(reader, 2, 3, 4)
    end_friendship(1, 2)

    assert reader.changed({2, 3, 5}) == {2}
    assert reader.changed({2, 3}) == set()


def test_people_who_listen_no_more_are_forgotten(reader):
    read(reader, 2, 3)
    read(reader, 3)
    (post_id,) = deliver(1)
    told = read(reader, 2, 3)

    assert {person: shown(text) for person, text in told.current.items()} == {
        2: [("post", post_id)],
        3: [("post", post_id)],
    }


def test_posts_of_pulled_authors_are_told(reader):
    Celebrity.objects.create(person_id=1, state=Celebrity.State.PULLED)
    (post_id,) = deliver(1)

    assert shown(read(reader, 2).current[2]) == [("post", post_id)]


def test_a_stream_resumes_behind_each_event_without_gap_or_double(reader):
    begin = reader.end
    ids = deliver(1, 3) + deliver(4) + deliver(2, 2)
    read(reader)
    ids += deliver(3, 2)
    (all_events,) = (events(text) for text in read(reader, behind=[Behind(2, begin)]).behind)
    positions = [Position.parse(event_id) for _, _, event_id in all_events]
    again = read(reader, behind=[Behind(2, position) for position in positions]).behind

    due = [post_id for post_id in ids if Post.objects.get(id=post_id).author_id != 4]
    assert [post["id"] for _, post, _ in all_events] == due
    for number, text in enumerate(again):
        assert [post_id for _, post_id in shown(text)] == due[number + 1 :]


def test_an_unknown_position_gets_a_gap_from_which_it_goes_on(reader):
    ((event, _, event_id),) = events(read(reader, behind=[Behind(2, Position())]).behind[0])
    (post_id,) = deliver(1)
    told = read(reader, behind=[Behind(2, Position.parse(event_id))])

    assert event == "gap"
    assert shown(told.behind[0]) == [("post", post_id)]


def test_whoever_lacks_too_many_gets_a_gap(reader, monkeypatch):
    monkeypatch.setattr(reading, "MOST_RESUMED", 2)
    begin = reader.end
    deliver(1, 3)

    assert shown(read(reader, behind=[Behind(2, begin)]).behind[0]) == [("gap", None)]


def test_a_journal_that_begins_anew_is_a_gap_for_all(reader):
    journal.JournalStep.objects.all().delete()

    assert read(reader, 1, 2).current is None


def test_tokens_are_checked_when_streams_open_and_later(reader):
    ((_, token),) = access_tokens([2])
    person, nobody = reader.admit([token.encode(), b"no token"])
    stream = (2, person.claims)

    assert (person.person_id, nobody) == (2, None)
    assert reading.are_valid([stream]) == [True]
    assert reading.are_valid([(2, person.claims | {"exp": 1})]) == [False]
    set_active(2, is_active=False)
    reading.revocations._known.forget()
    assert reading.are_valid([stream]) == [False]


def test_those_for_whom_there_is_no_time_stay_behind(reader, monkeypatch):
    """At least one is told each time."""
    monkeypatch.setattr(reading, "RESUMING_S", 0)
    begin = reader.end
    (post_id,) = deliver(1)
    told = read(reader, behind=[Behind(2, begin), Behind(3, begin)])

    assert [shown(text) for text in told.behind] == [[("post", post_id)]]
