"""Stores that lack the safeguard that a file names at the moment: LACKING is its path."""

import os
from pathlib import Path

from feed import epochs
from feed.timeline_stores import ring
from feed.timeline_stores.log import Log

__all__ = ["Log", "Ring"]


def lacks(safeguard):
    return Path(os.environ["LACKING"]).read_text() == safeguard


def trusting(function):
    """Trust any store in any epoch."""
    return lambda *arguments: None if lacks("epochs") else function(*arguments)


epochs.reason_unusable = trusting(epochs.reason_unusable)
epochs.check = trusting(epochs.check)


class Ring(ring.Ring):
    def settle(self, tickets, *, through):
        super().settle(tickets, through=0 if lacks("floors") else through)
