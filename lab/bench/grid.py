"""The numbers of people, friends and posts per batch that are benched."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Grid(NamedTuple):
    people: tuple[int, ...] = (1_000, 10_000, 100_000)
    friends: tuple[int, ...] = (50, 500, 5_000)
    batch: tuple[int, ...] = (1, 25, 100, 500)

    @classmethod
    def checked(cls, **numbers: tuple[int, ...] | None) -> "Grid":
        """Return a grid of these numbers, ascending, and of the usual ones where there are none.

        Raises ValueError if nobody could have so many friends.
        """
        said = {name: tuple(sorted(set(its))) for name, its in numbers.items() if its}
        grid = cls(**said)
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
