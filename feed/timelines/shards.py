"""A batch of deliveries turned round: not by post, but by shard and recipient."""

from typing import NamedTuple

import numpy as np

from feed.recipients import Ids
from feed.timelines.redis import SHARDS, Deliveries


class Shard(NamedTuple):
    """The deliveries into one shard, packed as little-endian 64-bit integers."""

    number: int
    owners: bytes
    """Pairs (owner id, how many posts she gets)."""
    posts: bytes
    """The post ids of those owners, one owner's after the other's, each owner's ascending."""

    @property
    def deliveries(self) -> int:
        return len(self.posts) // 8


def by_shard(deliveries: Deliveries) -> list[Shard]:
    """Group deliveries by shard and owner; without any Python a delivery, for speed."""
    batch = sorted(dict(deliveries).items())  # a post given twice is delivered once
    if not batch:
        return []
    owners = np.concatenate([owners for _, owners in batch])
    posts = np.repeat([post_id for post_id, _ in batch], [len(owners) for _, owners in batch])
    order = np.lexsort((owners, owners % SHARDS))  # stable: the posts of an owner stay ascending
    return _cut(owners[order], posts[order])


def _cut(owners: Ids, posts: Ids) -> list[Shard]:
    """Cut deliveries that are sorted by shard and owner wherever the shard changes."""
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    heads = np.column_stack((owners[starts], np.diff(starts, append=len(owners))))
    shards = heads[:, 0] % SHARDS
    firsts = np.flatnonzero(np.diff(shards, prepend=-1))
    return [
        Shard(int(shards[first]), _pack(head), _pack(ids))
        for first, head, ids in zip(
            firsts, np.split(heads, firsts[1:]), np.split(posts, starts[firsts[1:]]), strict=True
        )
    ]


def _pack(ids: Ids) -> bytes:
    return ids.astype("<i8", copy=False).tobytes()
