"""Other systems' ways of delivering: Redis lists, and a task per chunk of friends."""

import time
from collections.abc import Sequence
from typing import Any

from django.db.models import Max, Min

from bench.graphs import Filler
from bench.json_lines import Timed
from bench.posts import BODY
from feed.models import Post
from feed.services import publish_post
from feed.timeline_stores.base import Command, Held
from feed.timeline_stores.published import Pipeline

POSTS = 100
LOOK_EVERY_S = 0.02
READY_WITHIN_S = 60.0


class Lists(Pipeline):
    """Redis lists, LPUSH and LTRIM pipelined.

    Not a store of the service: a post that is delivered again is there twice.
    """

    def commands(self, post_id: int, owner_id: int) -> list[Command]:
        key = self.keys.of(owner_id)
        return [("LPUSH", key, post_id), ("LTRIM", key, 0, self.capacity - 1)]

    def read(
        self,
        owner_id: int,
        *,
        before: int | None = None,
        limit: int = 20,
        along: Command | None = None,
    ) -> Held:
        (stored,) = self.servers.ask(("LRANGE", self.keys.of(owner_id), 0, -1))
        ids = sorted(map(int, stored), reverse=True)
        below = [post_id for post_id in ids if before is None or post_id < before]
        return Held(below[:limit], floor=0)


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
