# mypy: ignore-errors
"""sweeps: nobody looks for posts that were left behind."""

from feed import delivery
from feed.strategies import get_strategy
from lab.faults.unguarded.switch import lacks

_deliver_claimed = delivery._deliver_claimed


def _leave(claim, limit):
    return 0 if lacks("sweeps") and get_strategy().grace_s else _deliver_claimed(claim, limit)


delivery._deliver_claimed = _leave
