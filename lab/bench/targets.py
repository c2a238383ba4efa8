"""What is benched: stores on their servers, and the grid of people, friends and batches."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from launch.backends import backends
from launch.unknown import none_of
from launch.variants import UnknownVariant

SERVERS = ("mysql_tuned", "postgres_tuned")
"""Databases whose CPU is counted: SQLite's is the client's."""
IN_CLUSTER = re.compile(r"(.+)@cluster([1-9]\d?)")


class Grid(NamedTuple):
    people: tuple[int, ...] = (1_000, 10_000, 100_000)
    friends: tuple[int, ...] = (50, 500, 5_000)
    batch: tuple[int, ...] = (1, 25, 100, 500)

    @classmethod
    def checked(cls, **numbers: tuple[int, ...] | None) -> "Grid":
        """Return a grid of these numbers, ascending, and of the usual ones where there are none.

        Raises ValueError if nobody could have so many friends.
        """
        axes = {name: tuple(sorted(set(axis))) for name, axis in numbers.items() if axis}
        grid = cls(**axes)
        if not grid.graphs:
            raise ValueError("--friends must be fewer than --people")
        return grid

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> "Grid":
        """Return the grid that the stores' rows of a bench went through."""
        cells = [row for row in rows if row["kind"] == "store"]
        return cls(*(tuple(sorted({cell[name] for cell in cells})) for name in cls._fields))

    @property
    def graphs(self) -> list[tuple[int, int]]:
        """The pairs (people, friends) that are possible."""
        return [(p, f) for p in self.people for f in self.friends if f < p]

    @property
    def base(self) -> tuple[int, int]:
        """The pair at which the stores are compared."""
        return (1_000, 500) if (1_000, 500) in self.graphs else self.graphs[0]

    @property
    def base_batches(self) -> list[int]:
        usual: list[int] = [batch for batch in (25, 500) if batch in self.batch]
        return usual or list(dict.fromkeys((self.batch[0], self.batch[-1])))

    def arguments(self, *names: str) -> list[str]:
        """Return some of the numbers as options of a command."""
        return [f"--{name}={','.join(map(str, getattr(self, name)))}" for name in names]


@dataclass(frozen=True)
class Target:
    store: str
    people_in: str
    """The database of people and posts, and of SQL timelines."""
    uses_redis: bool = False
    primaries: int = 0
    """Of the Redis Cluster that has the timelines; 0: one Redis."""
    uses_database: bool = False
    """The timelines are in that database too."""

    @property
    def database(self) -> str:
        """The database that holds the timelines; "none" if no SQL database does."""
        return self.people_in if self.uses_database else "none"

    @property
    def name(self) -> str:
        return self.label if self.database == "none" else f"{self.database}-{self.label}"

    @property
    def label(self) -> str:
        """The store, and its cluster if it has one."""
        return f"{self.store}@cluster{self.primaries}" if self.primaries else self.store

    @property
    def roles(self) -> Sequence[str]:
        """Roles of the servers whose CPU is counted; none if the store works in the process."""
        if self.primaries:
            return [f"node{number}" for number in range(1, self.primaries + 1)]
        if self.uses_redis:
            return ["redis"]
        return [self.database] if self.database in SERVERS else []

    def server_s(self, cpu_s: Mapping[str, float]) -> float | None:
        """Return what the servers used, of what every role did; None if there are none."""
        return sum(cpu_s[role] for role in self.roles) if self.roles else None


def targets() -> Iterator[Target]:
    """Yield every store of the service that is written to: a SQL store once per database."""
    for alias, store in backends().timeline_stores.items():
        if store.is_computed_on_read:
            continue
        if store.is_transactional:
            for database in ("sqlite", *SERVERS):
                yield Target(alias, database, uses_database=True)
        else:
            yield Target(alias, "sqlite", uses_redis=store.needs_redis)


def choose(names: str | None) -> list[Target]:
    """Return the targets of these stores, or of all. Raises UnknownVariant."""
    everything = list(targets())
    if names is None:
        return everything
    chosen: dict[Target, None] = {}
    for name in map(str.strip, names.split(",")):
        if match := IN_CLUSTER.fullmatch(name):
            found = [
                replace(target, primaries=int(match[2]))
                for target in everything
                if target.store == match[1] and target.uses_redis
            ]
        else:
            found = [target for target in everything if name in (target.store, target.name)]
        if not found:
            stores = dict.fromkeys(target.store for target in everything)
            raise UnknownVariant(
                f"--stores: {none_of(name, stores)} (those in Redis also like ring@cluster3)"
            )
        chosen |= dict.fromkeys(found)
    return list(chosen)
