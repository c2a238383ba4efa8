# mypy: ignore-errors
"""receipts: they are set before the deliveries."""

import time

from django.db import transaction

from feed import delivery
from feed.models import Post
from feed.strategies import inline
from feed.timeline_stores import get_timeline_store
from lab.faults.unguarded.switch import lacks

_deliver_claimed, _deliver_one = delivery._deliver_claimed, delivery.deliver_one


def _claimed(claim, limit):
    if not lacks("receipts"):
        return _deliver_claimed(claim, limit)
    with transaction.atomic():
        posts = list(claim(limit))
    return _receipt_first(posts)


def _one(post_id):
    if not lacks("receipts"):
        return _deliver_one(post_id)
    return _receipt_first(list(Post.objects.pending().filter(id=post_id)))


def _in_request(posts):
    if not lacks("receipts") or get_timeline_store().is_transactional:
        return delivery.deliver(posts)
    return _receipt_first(posts)


def _receipt_first(posts):
    delivery.set_receipts(posts)
    with transaction.atomic():
        locked = Post.objects.select_for_update().filter(id__in=[post.id for post in posts])
        list(locked)
        time.sleep(0.05)
        get_timeline_store().deliver(list(locked))
    return len(posts)


delivery._deliver_claimed, delivery.deliver_one = _claimed, _one
inline.deliver = _in_request
