"""What deliveries and loads of timelines add to the counters."""

import pytest

from feed.delivery import deliver
from feed.models import Post
from feed.recipients import ReaderCounts
from feed.signals import receipts_set, timeline_loaded
from feed.timeline import read_page
from metrics import definitions
from metrics.deliveries import Batch, count_load, observe
from tests.backends import stores_with
from tests.conftest import whole_timelines
from tests.feed.deliveries import posts_by


def count_of(counter, *labels):
    """Return a function that counts since now."""
    before = counter.labels(*labels)._value.get()
    return lambda: counter.labels(*labels)._value.get() - before


@pytest.fixture
def batches():
    """The batches that a test's deliveries send."""
    found = []

    def note(post_ids, count, **kwargs):
        found.append(Batch(post_ids, count))

    receipts_set.connect(note)
    yield found
    receipts_set.disconnect(note)


def test_a_redelivered_post_is_counted_once(friends, batches):
    posts = count_of(definitions.posts_delivered, "inline", "setbased")
    deliveries = count_of(definitions.deliveries, "inline", "setbased")
    first, second = [Post.objects.create(author_id=author, body="x") for author in (1, 4)]
    for delivered in ([first], [first], [first, second]):
        deliver(delivered)

    observe(batches, ReaderCounts())

    assert [batch.new for batch in batches] == [1, 0, 1]
    assert (posts(), deliveries()) == (2, 3 + 1)


@pytest.mark.parametrize("alias", stores_with(takes_loads=True, is_transactional=False))
def test_loads_of_absent_timelines_are_counted_and_pages_of_whole_ones_are_not(
    alias, settings, friends, redis
):
    settings.FEED_TIMELINE_STORE = alias
    store, loads = whole_timelines(), count_of(definitions.timeline_loads, alias)
    timeline_loaded.connect(count_load)
    try:
        store.deliver(posts_by(1, 3))
        read_page(store, 2)
        read_page(store, 2, before=2)
        assert loads() == 0
        store.clear()
        for _ in range(3):
            read_page(store, 2)
        assert loads() == 1
    finally:
        timeline_loaded.disconnect(count_load)
