"""A bisection: between the highest rate that held and the lowest that broke."""

from typing import NamedTuple

LEAST = 10
"""Lowest rate, in posts per second; what breaks here holds nothing."""
STEP = 5
"""Rates are multiples of this."""
NARROW = 0.04
"""Share of the rate that held; a narrower bracket ends the search."""


class Bracket(NamedTuple):
    """The highest rate that held and the lowest that broke, in posts per second."""

    held: int = 0
    broke: int | None = None

    def after(self, rate: int, held: bool) -> "Bracket":
        """Return the bracket after another rate was tried."""
        return self._replace(held=rate) if held else self._replace(broke=rate)

    def next_rate(self, most: int) -> int | None:
        """Return the rate to try next; None when the search is over.

        Twice what held until something breaks, half of what broke until something holds, and then
        the middle.
        """
        if self.broke is None:
            return min(2 * self.held, most) if self.held < most else None
        if not self.held:
            return max(_rounded(self.broke / 2), LEAST) if self.broke > LEAST else None
        middle = _rounded((self.held + self.broke) / 2)
        is_narrow = self.broke - self.held <= NARROW * self.held
        return None if is_narrow or not self.held < middle < self.broke else middle


def first_rate(asked: int, most: int) -> int:
    return min(max(asked, LEAST), most)


def _rounded(rate: float) -> int:
    return STEP * round(rate / STEP)
