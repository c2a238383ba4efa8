"""Posts of people with many friends are merged when feeds are read."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest
from django.db import connection
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from accounts.follows import reader_ids
from accounts.models import Follow, Person
from feed import celebrities, epochs
from feed.audit import Shown
from feed.due import due_ids
from feed.follows import unfriend
from feed.models import Celebrity, Epoch
from feed.timeline import read_page, rebuild
from feed.timeline_stores import get_timeline_store, timeline_stores
from runtime.remembered import forget_all
from tests.backends import HEALING_STORES, here
from tests.conftest import befriend, make_people
from tests.feed.deliveries import audited, ids, posts_by
from workers.chunks import plan_chunks

IN_ONE = pytest.mark.parametrize("store", ["setbased"], indirect=True)
"""For what doesn't depend on the store."""
PUSHED = here(alias for alias in HEALING_STORES if alias != "pull")
PEOPLE = range(1, 6)
FAN, OTHER = 2, 3


@pytest.fixture(params=PUSHED)
def store(request, settings, db, redis, monkeypatch):
    """Person 1 has four friends, which is too many; 2 and 3 are friends too."""
    make_people(5, [*((1, other) for other in PEOPLE[1:]), (FAN, OTHER)])
    settings.FEED_TIMELINE_STORE = request.param
    settings.FEED_PULL_ABOVE = 3
    monkeypatch.setattr(celebrities, "ENTERING_S", -1)  # the clock may stand still
    monkeypatch.setattr(celebrities._merged, "for_s", 0)
    Epoch.objects.all().delete()
    store = timeline_stores[request.param]
    epochs.get_or_begin(store)
    rebuild(store, list(PEOPLE))
    return store


def enter(store):
    celebrities.begin_crossings(store)
    celebrities.continue_crossings(store)
    assert state() == "pulled"


def leave(store):
    celebrities._move(1, Celebrity.State.PULLED, Celebrity.State.LEAVING)
    celebrities.continue_crossings(store)


def state():
    return Celebrity.objects.filter(person_id=1).values_list("state", flat=True).first()


def delivered(store, author_id, count=1):
    posts = posts_by(author_id, count)
    store.deliver(posts)
    return ids(posts)


def feed(store, owner_id=FAN, **options):
    return read_page(store, owner_id, **options).ids[::-1]


def test_posts_of_a_celebrity_are_in_feeds_and_in_no_timeline_of_friends(store):
    before = delivered(store, 1)
    enter(store)
    pulled = delivered(store, 1, 2)
    of_other = delivered(store, OTHER)

    assert feed(store) == before + pulled + of_other
    assert not {*pulled} & {*store.members(FAN)}
    assert feed(store, 1) == before + pulled + of_other
    assert {*pulled} <= {*store.members(1)}


def test_pages_are_cut_from_both(store):
    enter(store)
    posts = [it for _ in range(4) for it in delivered(store, 1) + delivered(store, OTHER)]

    assert feed(store, limit=3) == posts[-3:]
    assert feed(store, before=posts[-3], limit=3) == posts[-6:-3]
    assert feed(store, before=posts[2], limit=3) == posts[:2]


def test_who_leaves_is_delivered_again_and_nothing_is_short(store):
    enter(store)
    pulled = delivered(store, 1, 2)
    leave(store)
    after = delivered(store, 1)

    assert state() is None
    assert feed(store) == pulled + after
    assert {*after} <= {*store.members(FAN)}


def test_without_a_change_the_feed_of_a_friend_would_be_short(store, monkeypatch):
    """The control: an author leaves, and what was pulled is not left to the database."""
    delivered(store, OTHER)
    feed(store)
    enter(store)
    pulled = delivered(store, 1)
    monkeypatch.setattr(type(store), "change", lambda *arguments, **options: None)
    leave(store)

    assert not {*pulled} & {*feed(store, limit=1)}


def test_the_audit_knows_what_is_merged(store):
    enter(store)
    delivered(store, 1, 2)
    found = audited(store)
    assert found.ok
    assert found.merged == 2 * 4

    shown = audited(store, view=Shown)
    assert shown.ok
    assert shown.merged == 0


@IN_ONE
@pytest.mark.parametrize(("above", "after"), [(5, None), (4, "pulled"), (3, "pulled"), (0, None)])
def test_an_author_leaves_well_below_the_threshold(store, settings, above, after):
    enter(store)
    settings.FEED_PULL_ABOVE = above
    celebrities.begin_crossings(store)
    celebrities.continue_crossings(store)

    assert state() == after


@IN_ONE
@pytest.mark.parametrize(("per_s", "after"), [(None, None), (60, None), (39, "pulled")])
def test_the_threshold_can_be_what_a_drainer_delivers_in_time(store, settings, per_s, after):
    settings.FEED_PULL_ABOVE, settings.FEED_PULL_LAG_MS = "auto", 100
    celebrities.begin_crossings(store, per_s=per_s)
    celebrities.continue_crossings(store)

    assert state() == after


@IN_ONE
def test_nobody_is_pulled_without_a_threshold(store, settings):
    settings.FEED_PULL_ABOVE = 0
    celebrities.begin_crossings(store)

    assert state() is None


def test_a_process_with_another_store_moves_nobody(store, settings):
    """Another store is chosen, and its drainers start before manage.py begin_epoch."""
    enter(store)
    pulled = delivered(store, 1, 2)
    settings.FEED_TIMELINE_STORE = "pull"
    forget_all()
    for _ in range(2):
        celebrities.continue_crossings(get_timeline_store())

    assert state() == "pulled"
    assert feed(store) == pulled


@IN_ONE
def test_a_celebritys_post_is_planned_in_chunks_for_its_author_only(store):
    (post,) = posts_by(1, 1)
    assert list(plan_chunks(post)) == [(0, [1, 2, 3, 4, 5])]
    enter(store)

    (post,) = posts_by(1, 1)

    assert list(plan_chunks(post)) == [(0, [1])]


@pytest.fixture
def celebrity(transactional_db):
    """Person 1 is one, and this process doesn't know it yet."""
    make_people(1)
    Celebrity.objects.create(person_id=1, state=Celebrity.State.PULLED)


def test_no_thread_takes_celebrities_for_known_while_another_one_asks(celebrity):
    is_asking, is_answered = Event(), Event()

    def slowly(execute, *arguments):
        is_asking.set()
        assert is_answered.wait(10)
        return execute(*arguments)

    def ask():
        with closing(connection), connection.execute_wrapper(slowly):
            return celebrities.merged()

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        assert is_asking.wait(10)
        known = celebrities.merged()
        is_answered.set()

    assert known == asking.result() == {1}


STEPS = st.lists(
    st.sampled_from(
        ["post", "post of other", "look", "advance", "threshold", "unfriend", "befriend", "read"]
    ),
    max_size=25,
)


@pytest.mark.django_db(transaction=True)
@examples(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_no_feed_is_ever_wrong(store, settings, steps):
    settings.FEED_PULL_ABOVE = 3
    for step in steps:
        if step == "post":
            delivered(store, 1)
        elif step == "post of other":
            delivered(store, OTHER)
        elif step == "look":
            celebrities.begin_crossings(store)
        elif step == "advance":
            celebrities.continue_crossings(store)
        elif step == "threshold":
            settings.FEED_PULL_ABOVE = 100 if settings.FEED_PULL_ABOVE == 3 else 3
        elif step == "unfriend" and FAN in reader_ids(1):
            unfriend(1, FAN)
        elif step == "befriend" and FAN not in reader_ids(1):
            befriend(1, FAN)
        for owner_id in (1, FAN, OTHER):
            assert read_page(store, owner_id, limit=5).ids == due_ids(owner_id, limit=5)
    assert Follow.objects.exists()
    assert Person.objects.count() == 5
