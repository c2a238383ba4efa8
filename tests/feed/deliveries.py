"""Deliveries for the tests of stores."""

import numpy as np

from feed.audit import audit
from feed.models import Post
from feed.timeline import read_page
from tests.conftest import begin_with


def posts_by(author_id, count):
    return [Post.objects.create(author_id=author_id, body="text") for _ in range(count)]


def ids(posts):
    return [post.id for post in posts]


def into(owner_id, post_ids):
    return [(post_id, np.array([owner_id])) for post_id in post_ids]


def audited(store, **options):
    *_, (share, result) = audit(store, **options)
    assert share == 1
    return result


def whole_feed(store, owner_id):
    """Return the ids of a feed, read in pages."""
    found, before = [], None
    while page := read_page(store, owner_id, before=before, limit=3).ids:
        found += page
        before = page[-1]
    return found


def opened(store, *owner_ids):
    """Let these owners have a whole timeline, without posts."""
    begin_with(store)
    if store.takes_loads:
        store.activate(store.create(owner_ids), through=0)
    return store
