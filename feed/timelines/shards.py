"""A batch of deliveries turned round: not by post, but by recipient."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feed.recipients import Ids
from feed.timelines.redis import SHARDS, Deliveries

SHARD_BITS = SHARDS.bit_length() - 1
ID_BYTES = 6
"""Of a post's id: whatever passes through Lua costs time by the byte."""


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


def pack(ids: Ids) -> NDArray[np.uint8]:
    """Return little-endian integers, shape (ids, ID_BYTES). Raises OverflowError for a larger."""
    if int(ids.max()) >> 8 * ID_BYTES:
        raise OverflowError(f"no id of a post can take more than {ID_BYTES} bytes")
    return ids.astype("<i8", copy=False).view(np.uint8).reshape(-1, 8)[:, :ID_BYTES]


def unpack(packed: Any) -> Ids:  # bytes, but redis-py's type allows for decoded text
    ids = np.zeros((len(packed) // ID_BYTES, 8), np.uint8)
    ids[:, :ID_BYTES] = np.frombuffer(packed, np.uint8).reshape(-1, ID_BYTES)
    return ids.view("<i8").ravel()


def page_of(
    newest: Callable[[int], Ids], capacity: int, *, before: int | None, limit: int
) -> list[int]:
    """Return a page of a timeline, newest first; ``newest(n)`` reads its last n ids, ascending."""
    if before is None:
        ids = newest(min(limit, capacity))
    else:
        ids = newest(capacity)
        ids = ids[: np.searchsorted(ids, before)]
    page: list[int] = ids[::-1][:limit].tolist()
    return page
