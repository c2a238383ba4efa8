"""What a feed must show, compared with what it shows: the definition of right under every audit.

It needs nothing of Django, so that the laboratory and the load generators use it too.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class Difference(NamedTuple):
    """What is wrong in one feed: post ids, ascending."""

    missing: Ids
    """Due, but not shown."""
    duplicated: Ids
    """Shown more than once: each extra time counts."""
    unexpected: Ids
    """Shown, but neither due nor allowed."""

    @property
    def ok(self) -> bool:
        return not any(map(len, self))


def compare(
    due: Collection[int] | Ids,
    shown: Collection[int] | Ids,
    *,
    allowed: Collection[int] | Ids | None = None,
) -> Difference:
    """Compare the distinct ids that are due in a feed with those that it shows, in any order.

    ``allowed``: what it may show beside what is due; None: anything.
    """
    wanted = np.unique(_array(due))
    found, times = np.unique(_array(shown), return_counts=True)
    missing = np.setdiff1d(wanted, found, assume_unique=True)
    unexpected = found[:0]
    if allowed is not None:
        unexpected = np.setdiff1d(np.setdiff1d(found, wanted, assume_unique=True), _array(allowed))
    return Difference(missing, np.repeat(found, times - 1), unexpected)


def _array(ids: Collection[int] | Ids) -> Ids:
    return ids if isinstance(ids, np.ndarray) else np.fromiter(ids, np.int64, len(ids))
