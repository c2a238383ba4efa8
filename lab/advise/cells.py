"""What a delivery of a store costs at any number of people, friends and posts per batch."""

from collections.abc import Callable, Iterable, Mapping
from math import ceil, exp, log
from typing import Any, NamedTuple

import numpy as np

from lab.bench.targets import Grid

SPARSE = 0.46
"""Deliveries of a batch per timeline, at which four of five timelines get one only."""
LEAST_US = 1e-4

Cell = Mapping[str, Any]


class NotMeasured(ValueError):
    """No measured cell can stand for this; the message says what to run."""


class Delivery(NamedTuple):
    """CPU microseconds of one delivery."""

    client_us: float
    server_us: float
    projected: str
    """What the figure was taken from, if that is beyond the measured people; else empty."""

    @property
    def us(self) -> float:
        return self.client_us + self.server_us


class Cells:
    """The measured cells of one store, by people, friends and posts per batch."""

    def __init__(self, store: str, rows: Iterable[Cell]) -> None:
        self.store = store
        self.rows = [row for row in rows if row["deliveries_per_s"]]
        self.people = sorted({row["people"] for row in self.rows})
        self._grid: dict[int, dict[int, list[Cell]]] = {}
        for row in sorted(self.rows, key=lambda row: (row["people"], row["friends"], row["batch"])):
            self._grid.setdefault(row["people"], {}).setdefault(row["friends"], []).append(row)

    def delivery(self, people: float, friends: float, batch: float) -> Delivery:
        """Return what a delivery costs. Raises NotMeasured.

        Between cells the logarithms are linear. Beyond the people that were measured, the cost is
        that of a batch of the same density (deliveries per timeline), or of one that is sparse
        enough for any number of people: never that of a denser one.
        """
        most, projected = max(self.people, default=0), ""
        if people > most > 0:
            alike = min(batch, max(batch * most / people, SPARSE * most / (friends + 1)))
            if alike < 1:
                raise self._not_measured(people, friends)
            people, batch, projected = most, alike, f"projected from {most:,} people"
        try:
            client_us, server_us = (
                self._us(people, friends, batch, name) for name in ("client_us", "server_us")
            )
        except LookupError as error:
            raise self._not_measured(people, friends) from error
        return Delivery(client_us, server_us, projected)

    def bytes_per_entry(self, people: float, friends: float) -> float | None:
        """Return those of the nearest cell."""
        nearest = min(
            self.rows,
            key=lambda row: abs(log(row["people"] / people)) + abs(log(row["friends"] / friends)),
        )
        entry_bytes: float | None = nearest["bytes_per_entry"]
        return entry_bytes

    def _us(self, people: float, friends: float, batch: float, name: str) -> float:
        def with_people(measured: int) -> float:
            by_friends = self._grid[measured]
            return _between(
                friends, by_friends, lambda number: _of_batch(by_friends[number], batch, name)
            )

        return _between(people, self._grid, with_people)

    def _not_measured(self, people: float, friends: float) -> NotMeasured:
        """Name the bench that would do: what was measured, and those on the other side."""
        enough = min(ceil(people), ceil((friends + 1) / SPARSE))
        friends_measured = {row["friends"] for row in self.rows}
        grid = Grid(
            tuple(sorted({*self.people, enough})),
            tuple(sorted({*friends_measured, max(1, int(friends)), ceil(friends)})),
        )
        command = " ".join(grid.arguments("people", "friends"))
        return NotMeasured(
            f"{self.store}: not measured for {people:,.0f} people with {friends:,.0f} friends who "
            f"come: run python -m lab bench {command}"
        )


def _between(at: float, measured: Iterable[int], cost: Callable[[int], float]) -> float:
    """Return the cost at a number, from those at its neighbours. Raises LookupError beyond them."""
    below = max((number for number in measured if number <= at), default=None)
    above = min((number for number in measured if number >= at), default=None)
    if below is None or above is None:
        raise LookupError(at)
    if below == above:
        return cost(below)
    share = log(at / below) / log(above / below)
    return exp((1 - share) * log(cost(below)) + share * log(cost(above)))


def _of_batch(cells: list[Cell], batch: float, name: str) -> float:
    """Return the cost of a delivery; a larger batch never costs less as a whole."""
    sizes = np.array([cell["batch"] for cell in cells], dtype=float)
    batch_us = np.maximum.accumulate(sizes * [max(cell[name] or 0.0, LEAST_US) for cell in cells])
    return float(np.exp(np.interp(np.log(batch), np.log(sizes), np.log(batch_us / sizes))))
