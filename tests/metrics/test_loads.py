import pytest

from feed.signals import timeline_loaded
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store
from metrics import definitions
from metrics.deliveries import count_load
from tests.backends import stores_with
from tests.conftest import whole_timelines
from tests.feed.deliveries import posts_by


@pytest.fixture(params=stores_with(takes_loads=True, is_transactional=False))
def store(request, settings, friends, redis):
    settings.FEED_TIMELINE_STORE = request.param
    whole_timelines()
    return get_timeline_store()


@pytest.fixture
def loads(store):
    """Return a function that counts the loads since the start of the test."""
    counter = definitions.timeline_loads.labels(store.alias)
    before = counter._value.get()
    timeline_loaded.connect(count_load)
    yield lambda: counter._value.get() - before
    timeline_loaded.disconnect(count_load)


def test_a_reader_of_an_absent_timeline_loads_it_once(store, loads):
    store.clear()

    for _ in range(3):
        read_page(store, 2)

    assert loads() == 1


def test_pages_of_whole_timelines_load_nothing(store, loads):
    store.deliver(posts_by(1, 3))

    read_page(store, 2)
    read_page(store, 2, before=2)

    assert loads() == 0
