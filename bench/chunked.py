"""A task per chunk of friends: posts through the strategy and its workers, from end to end."""

import time
from collections.abc import Sequence
from typing import Any

from django.db.models import Max, Min

from bench.graphs import Filler
from bench.json_lines import Timed
from bench.posts import BODY
from feed.models import Post
from feed.services import publish_post

POSTS = 100
LOOK_EVERY_S = 0.02
READY_WITHIN_S = 60.0


class NotDelivered(Exception):
    """No worker delivers, or it fails."""


def deliver_in_chunks(filler: Filler) -> dict[str, Any]:
    """Publish posts and wait for their receipts; return the deliveries and the seconds.

    The wall time is by the database's clock, from the first post to the last receipt. Raises
    NotDelivered after READY_WITHIN_S.
    """
    _await_receipts(_publish(filler, 1))
    with Timed() as timed:
        ids = _publish(filler, POSTS)
        _await_receipts(ids)
    span = Post.objects.filter(id__in=ids).aggregate(
        start=Min("created_at"), end=Max("delivered_at")
    )
    return {
        "friends": filler.friends,
        "deliveries": POSTS * (filler.friends + 1),
        "wall_s": (span["end"] - span["start"]).total_seconds(),
        "client_s": timed.client_s,
    }


def _publish(filler: Filler, count: int) -> list[int]:
    return [publish_post(author_id=filler.author_id, body=BODY).post.id for _ in range(count)]


def _await_receipts(ids: Sequence[int]) -> None:
    give_up_at = time.monotonic() + READY_WITHIN_S
    while Post.objects.pending().filter(id__in=ids).exists():
        if time.monotonic() > give_up_at:
            raise NotDelivered(f"posts without a receipt after {READY_WITHIN_S:g} s")
        time.sleep(LOOK_EVERY_S)
