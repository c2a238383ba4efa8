"""Post ids as bytes, and pages of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feed.recipients import Ids

ID_BYTES = 6
"""Size of a packed post id; in Lua every byte costs time."""


def pack(ids: Ids) -> NDArray[np.uint8]:
    """Return little-endian integers, shape (ids, ID_BYTES). Raises OverflowError for larger ids."""
    if int(ids.max()) >> 8 * ID_BYTES:
        raise OverflowError(f"a post id must fit into {ID_BYTES} bytes")
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
