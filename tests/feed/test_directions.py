"""Who reads is not read: 2 follows 1, 3 follows 2, and nobody follows back."""

import csv
import io

import pytest
from django.core.management import call_command

from accounts.models import Follow, Person
from feed import celebrities
from feed.audit import Shown, Stored
from feed.delivery import deliver_pending
from feed.models import Celebrity
from feed.recipients import ReaderCounts
from feed.services import publish_post
from feed.timeline import read_page
from stream.reading import Circles
from tests.backends import STORES, here
from tests.conftest import client_of, make_people, whole_timelines
from tests.feed.deliveries import audited

FOLLOWS = [(1, 2), (2, 3)]
READS = {1: {1}, 2: {1, 2}, 3: {2, 3}, 4: {4}}


@pytest.fixture
def people(db, settings):
    settings.FEED_EDGES, settings.FEED_STRATEGY = "follows", "outbox"
    make_people(4)
    Follow.objects.bulk_create(Follow(author_id=a, reader_id=b) for a, b in FOLLOWS)
    Person.objects.update(friends_version=1)


@pytest.fixture(params=here(STORES))
def store(request, settings, redis, people):
    settings.FEED_TIMELINE_STORE = request.param
    return whole_timelines()


def post_by_each():
    posts = {n: publish_post(author_id=n, body="text").post.id for n in READS}
    deliver_pending(100)
    return posts


def feeds(store):
    return {owner: set(read_page(store, owner).ids) for owner in READS}


def test_feeds_hold_what_their_owners_follow(store):
    posts = post_by_each()

    assert feeds(store) == {owner: {posts[n] for n in authors} for owner, authors in READS.items()}
    for view in (Stored, Shown):
        found = audited(store, view=view)
        assert (found.ok, found.expected) == (True, sum(map(len, READS.values())))


def test_a_celebrity_is_merged_into_the_feeds_of_followers_alone(store, settings):
    settings.FEED_PULL_ABOVE = 1  # 2 has one follower, which is enough to stay one
    Celebrity.objects.create(person_id=2, state=Celebrity.State.PULLED)
    celebrities.forget()
    posts = post_by_each()

    assert feeds(store) == {owner: {posts[n] for n in authors} for owner, authors in READS.items()}


def test_streams_and_counts_go_by_the_same_direction(people):
    circles = Circles()
    circles.follow({1, 2, 3, 4})

    assert {owner: set(circles.of(owner).tolist()) for owner in READS} == READS
    assert ReaderCounts().of([1, 2, 3]) == {1: 1, 2: 1, 3: 0}
    post_by_each()
    out = io.StringIO()
    call_command("receipts", stdout=out)
    rows = csv.DictReader(io.StringIO(out.getvalue()))
    assert [int(row["deliveries"]) for row in rows] == [2, 2, 1, 1]


@pytest.mark.parametrize("visibility", ["everyone", "friends"])
def test_a_private_persons_posts_are_read_by_followers_alone(people, settings, visibility):
    settings.FEED_VISIBILITY = visibility
    Person.objects.filter(id=2).update(is_private=True)
    posts = post_by_each()

    def readers(author):
        answers = {n: client_of(n).get(f"/v1/posts/{posts[author]}/") for n in READS}
        return {n for n, answer in answers.items() if answer.status_code == 200}

    assert readers(2) == {2, 3}
    assert readers(1) == {"everyone": {1, 2, 3, 4}, "friends": {1, 2}}[visibility]
