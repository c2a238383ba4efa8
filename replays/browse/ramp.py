"""What the load does, for those who start it: its ramps, and what it writes down."""

from typing import NamedTuple

SHAPES = {"smoke": 1, "load": 100, "stress": 500}
"""Number of users."""


class Probe(NamedTuple):
    """A read after a write, by its author (``own``) or by another reader; times in Unix time.

    The write was confirmed at ``written_at``; the read was sent at ``read_at``.
    """

    what: str
    own: int
    written_at: float
    read_at: float
    seen: int


def users_at(second: float, peak: int, ramp_s: float, hold_s: float) -> int | None:
    """Return the number of users at a second; None at the end."""
    end = ramp_s + hold_s + ramp_s
    if second >= end:
        return None
    # + 1: Locust asks once per second, so this holds until the next second.
    share = min(1.0, (second + 1) / (ramp_s + 1), (end - second) / (ramp_s + 1))
    return max(1, round(peak * share))
