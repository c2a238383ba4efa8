import pytest

from feed.delivery import deliver
from feed.friends import FriendCounts
from feed.models import Post
from feed.signals import receipts_set
from metrics import definitions
from metrics.deliveries import Batch, observe


@pytest.fixture
def batches():
    """The batches that a test's deliveries send."""
    found = []

    def note(post_ids, count, **kwargs):
        found.append(Batch(post_ids, count))

    receipts_set.connect(note)
    yield found
    receipts_set.disconnect(note)


@pytest.fixture
def counted(monkeypatch):
    """Return the counts since the start of the test."""
    labels = ("inline", "setbased")
    counters = (definitions.posts_delivered, definitions.deliveries)
    before = [it.labels(*labels)._value.get() for it in counters]

    def since():
        return [it.labels(*labels)._value.get() - b for it, b in zip(counters, before, strict=True)]

    return since


def write(author_id):
    return Post.objects.create(author_id=author_id, body="x")


def test_a_redelivered_post_is_counted_once(friends, batches, counted):
    first, second = write(1), write(4)
    deliver([first])
    deliver([first])
    deliver([first, second])

    observe(batches, FriendCounts())

    assert [batch.new for batch in batches] == [1, 0, 1]
    assert counted() == [2, 3 + 1]
