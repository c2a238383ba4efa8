"""Group deliveries by recipient (transpose)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from feed.recipients import Ids
from feed.timeline_stores.packing import ID_BYTES, pack
from feed.timeline_stores.redis import SHARDS
from feed.timeline_stores.trimmed import Deliveries

SHARD_BITS = SHARDS.bit_length() - 1
SPARSE = 32
"""Key range per integer above which marking takes longer than sorting."""


class Shard(NamedTuple):
    """The deliveries into one shard; post ids are packed as little-endian integers."""

    number: int
    owners: list[int]
    lengths: list[int]
    """Number of bytes in ``posts`` of each owner."""
    posts: bytes
    """The post ids of each owner, ascending, concatenated in the order of ``owners``."""
    span: bytes
    """The oldest and the newest of those ids, in 8 bytes each."""

    @property
    def deliveries(self) -> int:
        return len(self.posts) // ID_BYTES


def by_shard(deliveries: Deliveries) -> list[Shard]:
    """Group deliveries by shard and owner, without Python code per delivery."""
    return _cut(*_transpose(deliveries, SHARD_BITS)) if deliveries else []


def by_owner(deliveries: Deliveries) -> dict[int, bytes]:
    """Return the post ids of each owner, packed and ascending like the owners."""
    if not deliveries:
        return {}
    owners, numbers, ids = _transpose(deliveries, 0)
    starts = _changes(owners)
    packed = _parts(_packed(ids, numbers), (starts * ID_BYTES).tolist())
    return dict(zip(owners[starts].tolist(), packed, strict=True))


def _transpose(deliveries: Deliveries, shard_bits: int) -> tuple[Ids, Ids, Ids]:
    """Return owners and numbers of deliveries, sorted by shard, owner and number, and the post ids.

    A delivery's number is the index of its post id in these ascending ids.
    """
    batch = sorted(dict(deliveries).items())  # a post given twice is delivered once
    owners = np.concatenate([owners for _, owners in batch])
    numbers = np.repeat(np.arange(len(batch)), [len(owners) for _, owners in batch])
    owners, numbers = _sort(owners, numbers, len(batch), shard_bits)
    return owners, numbers, np.array([post_id for post_id, _ in batch])


def _sort(owners: Ids, numbers: Ids, batch: int, shard_bits: int) -> tuple[Ids, Ids]:
    """Sort deliveries by shard (the owner's lowest bits), owner and number.

    The three are packed into one integer, which sorts many times faster than columns.
    """
    bits = batch.bit_length()
    width = max(0, int(owners.max()).bit_length() - shard_bits)
    if bits + width + shard_bits > 63:
        order = np.lexsort((numbers, owners, owners % (1 << shard_bits)))
        return owners[order], numbers[order]
    keys = owners & (1 << shard_bits) - 1
    keys <<= width
    keys |= owners >> shard_bits
    keys <<= bits
    keys |= numbers
    keys = _ascending(keys, 1 << bits + width + shard_bits)
    numbers = keys & (1 << bits) - 1
    keys >>= bits
    owners = keys & (1 << width) - 1
    owners <<= shard_bits
    owners |= keys >> width
    return owners, numbers


def _ascending(keys: Ids, end: int) -> Ids:
    """Sort distinct integers below ``end``.

    If they are dense, it is faster to mark them all and read the marks in order.
    """
    if end > SPARSE * len(keys):
        keys.sort()
        return keys
    marks = np.zeros(end, np.bool_)
    marks[keys] = True
    return np.flatnonzero(marks)


def _cut(owners: Ids, numbers: Ids, ids: Ids) -> list[Shard]:
    """Split deliveries that are sorted by shard and owner into shards."""
    starts = _changes(owners)
    names = owners[starts]
    shards = names & SHARDS - 1
    firsts = _changes(shards)
    cuts = starts[firsts]
    oldest, newest = np.minimum.reduceat(numbers, cuts), np.maximum.reduceat(numbers, cuts)
    spans = ids[np.column_stack((oldest, newest))].astype("<i8", copy=False)
    names_of, bytes_of = firsts.tolist(), (cuts * ID_BYTES).tolist()
    lengths = ID_BYTES * np.diff(starts, append=len(owners))
    return [
        Shard(number, *parts)
        for number, *parts in zip(
            shards[firsts].tolist(),
            _parts(names.tolist(), names_of),
            _parts(lengths.tolist(), names_of),
            _parts(_packed(ids, numbers), bytes_of),
            _parts(spans.tobytes(), range(0, 16 * len(firsts), 16)),
            strict=True,
        )
    ]


def _changes(values: Ids) -> Ids:
    """Return the indexes where the value differs from the one before."""
    return np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)


def _packed(ids: Ids, numbers: Ids) -> bytes:
    return pack(ids).take(numbers, axis=0).tobytes()


def _parts(whole: Any, starts: Sequence[int]) -> list[Any]:
    """Split a list or bytes at these indexes; numpy's split takes longer than everything else."""
    ends = [*starts[1:], len(whole)]
    return [whole[start:end] for start, end in zip(starts, ends, strict=True)]
