"""Both sides of the page and the load that they share; every tab shows the same stage."""

from dataclasses import replace
from functools import cache

from lab.experiments import EXPERIMENTS
from lab.live.side import Rates, Side
from launch.backends import Strategy, TimelineStore, backends
from launch.service import Seed
from launch.variants import DATABASES, SHORT

FIRST = ("sqlite-inline-rowwise", "sqlite-outbox-setbased")
"""What is chosen when the page opens: it needs no server."""


class Stage:
    def __init__(self, seed: Seed, servers: str) -> None:
        self.sides = [Side(name, seed, servers) for name in ("Left", "Right")]
        self._rates = Rates()

    @property
    def rates(self) -> Rates:
        return self._rates

    def turn(self, **rates: float) -> None:
        """Change the load of both sides."""
        self._rates = replace(self._rates, **rates)
        for side in self.sides:
            side.rates = self._rates

    def end(self) -> None:
        """End everything that runs, and wait for it."""
        for side in self.sides:
            side.stop()
        for side in self.sides:
            side.wait()


@cache
def variant_names() -> list[str]:
    """Return the names of all variants that can work, those of the experiment fanout first."""
    usual = list(EXPERIMENTS["fanout"].variants)
    every = [
        name
        for database in DATABASES
        for name in (
            *(f"{database}-{short}" for short in SHORT),
            *_pairs(database),
        )
    ]
    return list(dict.fromkeys(usual + every))


def _pairs(database: str) -> list[str]:
    known = backends()
    return [
        f"{database}-{strategy}-{store}"
        for strategy, how in known.strategies.items()
        for store, where in known.timeline_stores.items()
        if _fit(how, where)
    ]


def _fit(how: Strategy, where: TimelineStore) -> bool:
    takes_parts = where.accepts_partial_delivery or not how.needs_partial_delivery
    return where.is_shared and how.delivers and takes_parts and not where.is_computed_on_read
