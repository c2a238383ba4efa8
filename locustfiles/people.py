"""The people that a load generator plays."""

import csv
from itertools import count
from pathlib import Path
from typing import NamedTuple


class LoadPerson(NamedTuple):
    position: int
    headers: dict[str, str]


class People:
    """The people of a tokens file, as ``manage.py seed_people --tokens`` writes it.

    Neighbours in it are friends (see ``accounts.graphs``).
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise SystemExit(f"{path} is missing: python manage.py seed_people --tokens {path}")
        with path.open(newline="") as file:
            tokens = [row["token"] for row in csv.DictReader(file)]
        self._people = [
            LoadPerson(position, {"Authorization": f"Bearer {token}"})
            for position, token in enumerate(tokens)
        ]
        self._turn = count()

    def first(self) -> LoadPerson:
        return self._people[0]

    def next(self) -> LoadPerson:
        """Return somebody else at each call, until everyone had her turn."""
        return self._at(next(self._turn))

    def friend_of(self, person: LoadPerson) -> LoadPerson:
        return self._at(person.position + 1)

    def _at(self, position: int) -> LoadPerson:
        return self._people[position % len(self._people)]
