"""A batch of deliveries turned round: not by post, but by recipient."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from feed.recipients import Ids
from feed.timelines.packing import ID_BYTES, pack
from feed.timelines.redis import SHARDS
from feed.timelines.trimmed import Deliveries

SHARD_BITS = SHARDS.bit_length() - 1


class Shard(NamedTuple):
    """The deliveries into one shard, ids packed as little-endian integers."""

    number: int
    owners: list[int]
    lengths: list[int]
    """How many bytes of ``posts`` are each owner's."""
    posts: bytes
    """The post ids of those owners, one owner's after the other's, each owner's ascending."""
    span: bytes
    """The oldest and the newest of those ids, in 8 bytes each."""

    @property
    def deliveries(self) -> int:
        return len(self.posts) // ID_BYTES


def by_shard(deliveries: Deliveries) -> list[Shard]:
    """Group deliveries by shard and owner; without any Python a delivery, for speed."""
    return _cut(*_turn_round(deliveries, SHARD_BITS)) if deliveries else []


def by_owner(deliveries: Deliveries) -> dict[int, bytes]:
    """Return the post ids of each owner, packed and ascending like the owners."""
    if not deliveries:
        return {}
    owners, posts = _turn_round(deliveries, 0)
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    packed = _parts(pack(posts).tobytes(), (starts * ID_BYTES).tolist())
    return dict(zip(owners[starts].tolist(), packed, strict=True))


def _turn_round(deliveries: Deliveries, shard_bits: int) -> tuple[Ids, Ids]:
    """Return owners and post ids of deliveries, sorted by shard, owner and post id."""
    batch = sorted(dict(deliveries).items())  # a post given twice is delivered once
    owners = np.concatenate([owners for _, owners in batch])
    numbers = np.repeat(np.arange(len(batch)), [len(owners) for _, owners in batch])
    owners, numbers = _sort(owners, numbers, len(batch), shard_bits)
    return owners, np.array([post_id for post_id, _ in batch])[numbers]


def _sort(owners: Ids, numbers: Ids, batch: int, shard_bits: int) -> tuple[Ids, Ids]:
    """Sort deliveries by shard (the owner's lowest bits), owner and number in the batch.

    The three go into one integer each, since those are sorted many times faster than by columns.
    """
    bits = batch.bit_length()
    if int(owners.max()) >> (63 - bits):
        order = np.lexsort((numbers, owners, owners % (1 << shard_bits)))
        return owners[order], numbers[order]
    width = 63 - bits - shard_bits
    keys = owners & (1 << shard_bits) - 1
    keys <<= width
    keys |= owners >> shard_bits
    keys <<= bits
    keys |= numbers
    keys.sort()
    numbers = keys & (1 << bits) - 1
    keys >>= bits
    owners = keys & (1 << width) - 1
    owners <<= shard_bits
    owners |= keys >> width
    return owners, numbers


def _cut(owners: Ids, posts: Ids) -> list[Shard]:
    """Cut deliveries that are sorted by shard and owner wherever the shard changes."""
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    names = owners[starts]
    shards = names & SHARDS - 1
    firsts = np.flatnonzero(np.diff(shards, prepend=-1))
    cuts = starts[firsts]
    oldest, newest = np.minimum.reduceat(posts, cuts), np.maximum.reduceat(posts, cuts)
    spans = np.column_stack((oldest, newest)).astype("<i8", copy=False)
    names_of, bytes_of = firsts.tolist(), (cuts * ID_BYTES).tolist()
    lengths = ID_BYTES * np.diff(starts, append=len(owners))
    return [
        Shard(number, *parts)
        for number, *parts in zip(
            shards[firsts].tolist(),
            _parts(names.tolist(), names_of),
            _parts(lengths.tolist(), names_of),
            _parts(pack(posts).tobytes(), bytes_of),
            _parts(spans.tobytes(), range(0, 16 * len(firsts), 16)),
            strict=True,
        )
    ]


def _parts(whole: Any, starts: Sequence[int]) -> list[Any]:
    """Cut a list or bytes at these places; numpy's own split takes longer than all the rest."""
    ends = [*starts[1:], len(whole)]
    return [whole[start:end] for start, end in zip(starts, ends, strict=True)]
