"""Post ids as bytes, and timelines of them: a header of three words, and then the ids, ascending.

A word is ID_BYTES long. The words of the header are the version, the seal and the floor, each with
the highest bit set, which no post id has: so the last bytes of a timeline show whether they
reach back to its header.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feed.recipients import Ids
from feed.timeline_stores.base import Held
from feed.timeline_stores.rule import MOST_ID, Timeline

ID_BYTES = 6
"""Size of a packed post id; in Lua every byte costs time."""
FLAG = 1 << 47
PENDING = MOST_ID + 1
"""The floor of a pending timeline."""
HEADER_WORDS = 3
HEADER_BYTES = HEADER_WORDS * ID_BYTES


def pack(ids: Ids) -> NDArray[np.uint8]:
    """Return little-endian integers, shape (ids, ID_BYTES). Raises OverflowError for larger ids."""
    if len(ids) and int(ids.max()) >= PENDING:
        raise OverflowError(f"a post id must be below {PENDING}")
    return _words(ids)


def unpack(packed: Any) -> Ids:  # bytes, but redis-py's type allows for decoded text
    words = np.zeros((len(packed) // ID_BYTES, 8), np.uint8)
    words[:, :ID_BYTES] = np.frombuffer(packed, np.uint8).reshape(-1, ID_BYTES)
    return words.view("<i8").ravel()


def pack_timeline(timeline: Timeline) -> bytes:
    floor = PENDING if timeline.floor is None else timeline.floor
    header = np.array([timeline.version, timeline.seal, floor]) | FLAG
    return _words(header).tobytes() + pack(np.array(timeline.ids, np.int64)).tobytes()


def unpack_timeline(packed: bytes) -> Timeline | None:
    """Return a timeline; None if the bytes aren't one."""
    if not is_timeline(packed):
        return None
    words = unpack(packed)
    version, seal, floor = (words[:HEADER_WORDS] ^ FLAG).tolist()
    timeline = Timeline(version)
    timeline.seal = seal
    timeline.floor = None if floor == PENDING else floor
    timeline.ids = words[HEADER_WORDS:].tolist()
    return timeline


def is_timeline(packed: bytes) -> bool:
    whole = len(packed) >= HEADER_BYTES and len(packed) % ID_BYTES == 0
    return whole and packed[ID_BYTES - 1] >= 0x80


def held_of(tail: Any, *, before: int | None, limit: int) -> Held:
    """Return the part of a timeline that its last bytes show.

    ``tail``: at least HEADER_WORDS and ``limit`` words if it has as many, or else all of it.
    """
    if len(tail) % ID_BYTES:
        return Held()
    words = unpack(tail)
    header = words[:HEADER_WORDS][words[:HEADER_WORDS] >= FLAG] ^ FLAG
    ids = words[len(header) :]
    if before is not None:
        ids = ids[: np.searchsorted(ids, before)]
    page: list[int] = ids[::-1][:limit].tolist()
    if len(header) == HEADER_WORDS:
        version, _, floor = header.tolist()
        return Held(page, None if floor >= MOST_ID else floor, version)
    return Held(page) if len(page) >= limit else Held()


def _words(numbers: Ids) -> NDArray[np.uint8]:
    return numbers.astype("<i8", copy=False).view(np.uint8).reshape(-1, 8)[:, :ID_BYTES]
