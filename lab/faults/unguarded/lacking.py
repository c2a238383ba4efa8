# mypy: ignore-errors
"""The safeguards that a control can lack: what the service does without each."""

import os
import time
from contextlib import nullcontext
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path

import rest_framework.views  # noqa: F401  first, since it imports web.api itself
from django.db import transaction
from django.db.models import Max

from feed import delivery, epochs, services
from feed.models import Post
from feed.strategies import get_strategy, inline
from feed.timeline_stores import get_timeline_store, redis_cluster
from feed.timeline_stores.redis_cluster import Topology
from feed.timeline_stores.ring import RingStore
from feed.timeline_stores.rows import RowStore
from lab.faults.unguarded.following import following
from runtime.away import Server
from stream.reading import Reading
from web import api

# A file of the laboratory's (Running.lack), beside another one that the service knows.
FILE = Path(os.environ["HASHING_SLOTS_DIR"]).with_name("lacking")
SLACK = timedelta(seconds=5)


def lacks(safeguard: str) -> bool:
    return FILE.exists() and FILE.read_text() == safeguard


def without(safeguard: str, owner: object, name: str):
    """Let the decorated function stand in for ``owner.name`` while a safeguard is missing.

    It gets the original first, then the arguments.
    """

    def replace(stand_in):
        original = getattr(owner, name)

        @wraps(original)
        def chosen(*args, **kwargs):
            if lacks(safeguard):
                return stand_in(original, *args, **kwargs)
            return original(*args, **kwargs)

        setattr(owner, name, chosen)
        return stand_in

    return replace


class _Unavailable(type):
    """Answers: an error of a server behind the service is an error of the service."""

    errors = api.UNAVAILABLE

    def __instancecheck__(cls, error):
        return not lacks("answers") and isinstance(error, _Unavailable.errors)


api.UNAVAILABLE = _Unavailable("Unavailable", (), {})


@without("asks", redis_cluster, "exchange")
def _follow(exchange, batches):
    """Follow a slot that is on its way to another node."""
    return following(exchange)(batches)


@without("epochs", epochs, "reason_unusable")
@without("epochs", epochs, "renew_if_lost")
def _trust(_original, *_arguments):
    """Trust any store, whatever became of it or of the database."""


@without("idempotency keys", services, "_promise")
def _promise_nothing(_original, _post, _key):
    """Write a post again when its request is repeated."""


@without("floors", RingStore, "activate")
def _activate_at_0(activate, self, pending, *, through):
    """Count a timeline that is created by a delivery as whole."""
    activate(self, pending, through=0)


@without("seals", RingStore, "change")
@without("seals", RowStore, "change")
def _change_nothing(change, self, owner_ids, *, through):
    """Leave both timelines of a changed friendship as they are."""
    change(self, owner_ids, through=0)


@without("markers", services, "forgetting")
def _keep_in_cache(_original, *_post_ids):
    """Leave a deleted post in the cache."""
    return nullcontext()


# A replica that became a primary is taken to have everything. Either of two safeguards would do,
# so both are missing: a receipt needs a replica's confirmation, and what a promoted replica may
# lack is delivered again.
@without("promotions", Topology, "has_replica")
def _unconfirmed(_original, _topology, _url):
    return False


@without("promotions", epochs, "_go_on")
def _without_redelivery(go_on, epoch, server, _lost_s):
    return go_on(epoch, server, 0.0)


@without("positions", Reading, "read")
def _go_on_at_the_end(read, self, listening, behind):
    """Resume streams where everybody is, not where they were; new ones get their gap."""
    behind = [one._replace(position=self.end) if one.position.step else one for one in behind]
    return read(self, listening, behind)


@without("refusals", Server, "refuses")
def _wait_each_time(_original, _server):
    """Wait in every request for a server that did not answer the one before."""
    return False


@without("sweeps", delivery, "_deliver_claimed")
def _leave_behind(deliver_claimed, claim, limit):
    """Look for no posts that were left behind."""
    return 0 if get_strategy().grace_s else deliver_claimed(claim, limit)


@without("claims by state", delivery, "_deliver_claimed")
def _claim_by_time(deliver_claimed, claim, limit):
    """Claim what is newer than the newest post with a receipt."""
    return deliver_claimed(partial(_newer, claim), limit)


def _newer(claim, limit):
    posts = claim(limit)
    newest = Post.objects.exclude(delivered_at=None).aggregate(at=Max("created_at"))["at"]
    return posts if newest is None else [post for post in posts if post.created_at > newest - SLACK]


@without("receipts", delivery, "_deliver_claimed")
def _claimed_receipt_first(_original, claim, limit):
    """Set receipts before the deliveries, here and in the next two."""
    with transaction.atomic():
        posts = list(claim(limit))
    return _receipt_first(posts)


@without("receipts", delivery, "deliver_one")
def _one_receipt_first(_original, post_id):
    return _receipt_first(list(Post.objects.pending().filter(id=post_id)))


@without("receipts", inline, "deliver")
def _request_receipt_first(deliver, posts):
    return deliver(posts) if get_timeline_store().is_transactional else _receipt_first(posts)


def _receipt_first(posts):
    delivery.set_receipts(posts)
    with transaction.atomic():
        locked = Post.objects.select_for_update().filter(id__in=[post.id for post in posts])
        list(locked)
        time.sleep(0.05)
        get_timeline_store().deliver(list(locked))
    return len(posts)
