"""Group deliveries by recipient (transpose)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feed.recipients import Deliveries, Ids
from feed.timeline_stores.packing import ID_BYTES, PENDING, pack

RECORD_BYTES = 2 * ID_BYTES
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
    oldest: int
    newest: int


def by_shard(deliveries: Deliveries, shards: int) -> list[Shard]:
    """Group deliveries by shard and owner, without Python code per delivery."""
    if not deliveries:
        return []
    owners, numbers, ids = _numbered(deliveries)
    owners, numbers = _sort(owners, numbers, len(ids), _bits(shards))
    return _cut(owners, ids[numbers], _packed(ids, numbers), shards)


def by_owner(deliveries: Deliveries) -> dict[int, bytes]:
    """Return the post ids of each owner, packed and ascending like the owners."""
    if not deliveries:
        return {}
    owners, numbers, ids = _numbered(deliveries)
    owners, numbers = _sort(owners, numbers, len(ids), 0)
    starts = _changes(owners)
    packed = _parts(_packed(ids, numbers), (starts * ID_BYTES).tolist())
    return dict(zip(owners[starts].tolist(), packed, strict=True))


def records_by_shard(deliveries: Deliveries, shards: int) -> dict[int, bytes]:
    """Return the records of each shard, in the order of the post ids.

    A record is a word for the owner and one for the post id.
    """
    if not deliveries:
        return {}
    owners, numbers, ids = _numbered(deliveries)
    owned_by = (owners & shards - 1).astype(np.uint16)
    order = owned_by.argsort(kind="stable")  # in linear time, for such short integers
    owned_by = owned_by[order]
    starts = _changes(owned_by)
    packed = _records(owners, ids[numbers]).take(order, axis=0).tobytes()
    parts = _parts(packed, (starts * RECORD_BYTES).tolist())
    return dict(zip(owned_by[starts].tolist(), parts, strict=True))


def _records_of(packed: bytes) -> tuple[Ids, Ids]:
    """Return the owners and post ids of records."""
    owners, middle, post_ids = np.frombuffer(packed, "<u4").reshape(-1, 3).astype(np.int64).T
    return owners | (middle & 0xFFFF) << 32, middle >> 16 | post_ids << 16


def shards_of_records(packed: bytes, shards: int) -> list[Shard]:
    """Group records by shard and owner; those of a shard stand together."""
    owners, post_ids = _records_of(packed)
    if not len(owners):
        return []
    order = _order(owners, shards)
    owners, post_ids = owners[order], post_ids[order]
    same = owners[1:] == owners[:-1]
    if (same & (post_ids[1:] <= post_ids[:-1])).any():  # late or twice
        order = np.lexsort((post_ids, owners, owners & shards - 1))
        owners, post_ids = owners[order], post_ids[order]
        is_new = np.append(True, (owners[1:] != owners[:-1]) | (post_ids[1:] != post_ids[:-1]))
        owners, post_ids = owners[is_new], post_ids[is_new]
    return _cut(owners, post_ids, pack(post_ids).tobytes(), shards)


def _records(owners: Ids, post_ids: Ids) -> NDArray[np.uint32]:
    """Return records as little-endian thirds, shape (records, 3). Raises OverflowError."""
    if int(max(owners.max(), post_ids.max())) >= PENDING:
        raise OverflowError(f"ids of people and posts must be below {PENDING}")
    thirds = np.empty((len(owners), 3), "<u4")
    thirds[:, 0] = owners & 0xFFFFFFFF
    thirds[:, 1] = owners >> 32 | (post_ids & 0xFFFF) << 16
    thirds[:, 2] = post_ids >> 16
    return thirds


def _order(owners: Ids, shards: int) -> Ids:
    """Return the stable order by shard and owner of owners whose shards stand together."""
    owned_by, within = owners & shards - 1, owners >> _bits(shards)
    rank = np.cumsum(np.append(0, owned_by[1:] != owned_by[:-1]))
    width = int(within.max()) + 1
    keys = rank * width + within
    if (int(rank[-1]) + 1) * width <= 1 << 16:
        order: Ids = keys.astype(np.uint16).argsort(kind="stable")
    else:
        order = np.lexsort((owners, owned_by))
    return order


def _numbered(deliveries: Deliveries) -> tuple[Ids, Ids, Ids]:
    """Return owners and numbers of deliveries, and the post ids.

    A delivery's number is the index of its post id in these ascending ids.
    """
    batch = sorted(dict(deliveries).items())  # a post given twice is delivered once
    owners = np.concatenate([owners for _, owners in batch])
    numbers = np.repeat(np.arange(len(batch)), [len(owners) for _, owners in batch])
    return owners, numbers, np.array([post_id for post_id, _ in batch])


def _bits(shards: int) -> int:
    return shards.bit_length() - 1


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


def _cut(owners: Ids, post_ids: Ids, packed: bytes, shards: int) -> list[Shard]:
    """Split deliveries that are sorted by shard and owner into shards; ``packed``: their ids."""
    starts = _changes(owners)
    names = owners[starts]
    owned_by = names & shards - 1
    firsts = _changes(owned_by)
    cuts = starts[firsts]
    oldest, newest = np.minimum.reduceat(post_ids, cuts), np.maximum.reduceat(post_ids, cuts)
    names_of, bytes_of = firsts.tolist(), (cuts * ID_BYTES).tolist()
    lengths = ID_BYTES * np.diff(starts, append=len(owners))
    return [
        Shard(number, *parts)
        for number, *parts in zip(
            owned_by[firsts].tolist(),
            _parts(names.tolist(), names_of),
            _parts(lengths.tolist(), names_of),
            _parts(packed, bytes_of),
            oldest.tolist(),
            newest.tolist(),
            strict=True,
        )
    ]


def _changes(values: NDArray[Any]) -> Ids:
    """Return the indexes where the value differs from the one before."""
    return np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)


def _packed(ids: Ids, numbers: Ids) -> bytes:
    return pack(ids).take(numbers, axis=0).tobytes()


def _parts(whole: Any, starts: Sequence[int]) -> list[Any]:
    """Split a list or bytes at these indexes; numpy's split takes longer than everything else."""
    ends = [*starts[1:], len(whole)]
    return [whole[start:end] for start, end in zip(starts, ends, strict=True)]
