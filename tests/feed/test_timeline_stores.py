"""The contract of every timeline store."""

from itertools import pairwise

import pytest
from django.db import connection, transaction

from feed import epochs
from feed.models import Epoch, Post
from feed.timeline import read_page, rebuild
from feed.timeline_stores import get_timeline_store, timeline_stores
from tests.backends import STORES, WRITING_STORES, here, stores_with
from tests.conftest import begin_with, make_people, whole_timelines
from tests.feed.deliveries import audited

HEALING = here(stores_with(is_healing=True, is_computed_on_read=False))
HEALING_IN_REDIS = stores_with(is_healing=True, needs_redis=True)
IN_PARTS = here(stores_with(accepts_partial_delivery=True))

pytestmark = pytest.mark.usefixtures("redis")


@pytest.fixture(params=here(STORES))
def store(request, settings, friends):
    """Each store; tests of fewer stores are parametrized with ``store`` themselves."""
    settings.FEED_TIMELINE_STORE = request.param
    return whole_timelines()


@pytest.fixture
def post():
    """Create a post without deliveries."""
    return lambda author_id: Post.objects.create(author_id=author_id, body="text")


def test_a_batch_is_delivered_to_its_authors_and_their_friends(store, post):
    batch = [post(1), post(4), post(2)]

    store.deliver([])
    store.deliver(batch)

    first, alone, second = [one.id for one in batch]
    assert [sorted(store.members(owner)) for owner in (1, 2, 3, 4)] == [
        [first, second],
        [first, second],
        [first, second],
        [alone],
    ]


def test_a_post_that_is_given_twice_or_delivered_again_appears_once(store, post):
    first, second = post(1), post(2)
    store.deliver([first, first])

    store.deliver([first, second])

    assert sorted(store.members(3)) == [first.id, second.id]


def test_pages_are_newest_first_and_follow_each_other_whatever_the_order_of_delivery(store, post):
    posts = [post(1) for _ in range(5)]
    unknown = post(4)
    later = post(1)
    for one in (posts[3], later, posts[0], posts[4], posts[2], unknown, posts[1]):
        store.deliver([one])
    ids = [one.id for one in reversed(posts)]

    first = read_page(store, 2, before=unknown.id, limit=2).ids
    second = read_page(store, 2, before=first[-1], limit=2).ids
    third = read_page(store, 2, before=second[-1], limit=2).ids

    assert read_page(store, 2).ids == [later.id, *ids]
    assert (first, second, third) == (ids[:2], ids[2:4], ids[4:])
    assert read_page(store, 2, before=third[-1]).ids == []


@pytest.mark.parametrize("store", IN_PARTS, indirect=True)
def test_a_post_delivered_in_parts_reaches_all_timelines(store, post):
    mine = post(1)

    store.deliver_to(mine, [3])
    assert [store.members(owner) for owner in (1, 2, 3)] == [[], [], [mine.id]]

    store.deliver_to(mine, [1, 2, 3])
    assert [store.members(owner) for owner in (1, 2, 3)] == [[mine.id]] * 3


@pytest.mark.parametrize("name", here(WRITING_STORES))
def test_clearing_empties_every_timeline_of_one_store_only(name, friends, post):
    stores = [timeline_stores[alias] for alias in WRITING_STORES]
    for store in stores:
        Epoch.objects.update(store=store.alias)
        rebuild(store, [1, 2, 3, 4])
    mine = post(1)
    for store in stores:
        store.deliver([mine])

    timeline_stores[name].clear()

    held = {store.alias: [store.members(owner) for owner in (1, 2)] for store in stores}
    assert held == dict.fromkeys(WRITING_STORES, [[mine.id]] * 2) | {name: [[], []]}


@pytest.mark.parametrize("store", HEALING, indirect=True)
def test_a_lost_timeline_shows_the_same_pages_as_before(store, post, undelayed):
    posts = [post(1) for _ in range(5)]
    store.deliver(posts)
    before = [read_page(store, owner).ids for owner in (1, 2, 3, 4)]

    epochs.begin(store)
    held = [store.members(owner) for owner in (1, 2, 3, 4)]

    assert held == [[], [], [], []]
    assert [read_page(store, owner).ids for owner in (1, 2, 3, 4)] == before
    assert before[1] == [one.id for one in reversed(posts)]


@pytest.mark.parametrize("since", ["a change", "a loss"])
@pytest.mark.parametrize("store", HEALING, indirect=True)
def test_what_a_page_has_shown_stays_on_it_whatever_is_not_delivered_yet(
    store, since, post, undelayed
):
    old = [post(1) for _ in range(2)]
    if since == "a change":
        store.change([2], through=old[-1].id)
    else:
        epochs.begin(store)
    early, late = post(1), post(1)

    pages = [read_page(store, 2).ids, read_page(store, 2).ids]
    store.deliver([late])
    pages += [read_page(store, 2).ids, read_page(store, 2).ids]
    store.deliver([early, late])
    pages += [read_page(store, 2).ids]

    assert {one.id for one in old} <= set(pages[0])
    assert [(one, then) for one, then in pairwise(pages) if not set(one) <= set(then)] == []
    assert pages[-1] == [one.id for one in (late, early, *reversed(old))]


@pytest.mark.parametrize("store", HEALING, indirect=True)
def test_a_page_goes_on_below_the_floor(store, post):
    posts = [post(1) for _ in range(7)]
    store.change([2], through=posts[3].id)
    store.deliver(posts[4:])
    ids = [one.id for one in reversed(posts)]

    deep = [read_page(store, 2, before=before, limit=3).ids for before in (ids[0], ids[2], ids[4])]

    assert deep == [ids[1:4], ids[3:6], ids[5:]]
    assert [read_page(store, 2, limit=limit).ids for limit in (2, 5, 9)] == [ids[:2], ids[:5], ids]


@pytest.mark.parametrize("store", HEALING, indirect=True)
def test_a_rebuilt_timeline_holds_what_is_due(store, post, undelayed):
    posts = [post(1) for _ in range(5)]
    epochs.begin(store)

    rebuild(store, [1, 2, 3, 4])

    ids = [one.id for one in reversed(posts)]
    assert [store.members(owner) for owner in (1, 2, 3, 4)] == [ids, ids, ids, []]
    assert audited(store).left == 0


@pytest.mark.parametrize("alias", HEALING_IN_REDIS)
def test_a_key_of_a_wrong_type_is_an_absent_timeline(alias, redis, friends, post):
    store, first = timeline_stores[alias], post(1)
    begin_with(store).deliver([first])
    redis.delete(store.keys.of(2))
    redis.hset(store.keys.of(2), "not", "a timeline")
    second = post(1)

    store.deliver([second])

    assert read_page(store, 2).ids == [second.id, first.id]
    assert store.members(2) == [second.id, first.id]


def test_deliveries_of_a_transactional_store_roll_back_with_the_caller(store, post):
    mine = post(1)
    with transaction.atomic():
        store.deliver([mine])
        transaction.set_rollback(True)

    survived = store.members(2) == [mine.id]
    # A timeline that is computed on read has nothing to roll back.
    assert survived == (not store.is_transactional or store.alias == "pull")


@pytest.mark.parametrize("store", ["rowwise", "bulk"], indirect=True)
def test_the_published_schema_copies_the_text_into_every_row(store, post):

    store.deliver([post(1)])

    assert list(store.model.objects.values_list("body", flat=True)) == ["text"] * 3


@pytest.fixture
def warned(db):
    """The database's warnings for each statement; SQLite has none."""
    found = []

    def listen(execute, *arguments):
        result = execute(*arguments)
        if connection.vendor == "mysql":
            found.extend(text for _, _, text in connection.connection.show_warnings())
        return result

    with connection.execute_wrapper(listen):
        yield found


def test_no_statement_is_deprecated(store, post, warned):
    store.deliver([post(1), post(2)])
    read_page(store, 3)

    assert not [text for text in warned if "deprecated" in text]


STATEMENTS = {
    "rowwise": 2 * (2 + 11),
    "setbased": 1,
    "packed": 4,
    "ring": 2,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_batch_takes_the_expected_number_of_statements(
    name, settings, db, post, django_assert_num_queries
):
    """The laboratory compares one SQL statement per delivery with one per batch."""
    make_people(12, [(1, n) for n in range(2, 12)])
    settings.FEED_TIMELINE_STORE = name
    whole_timelines().deliver([post(1)])
    batch = [post(1), post(1)]

    savepoint = 2 if name == "setbased" and connection.vendor == "postgresql" else 0
    with django_assert_num_queries(STATEMENTS[name] + savepoint):
        get_timeline_store().deliver(batch)
