"""The people that a load generator plays."""

import csv
import random
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from locust.env import Environment
from locust.runners import MasterRunner

SEED = 7


class LoadPerson(NamedTuple):
    position: int
    id: int
    headers: dict[str, str]


class People:
    """The people of a tokens file, as ``manage.py seed_people --tokens`` writes it.

    Neighbours in it are friends (see ``accounts.graphs``).
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise SystemExit(f"{path} is missing: python manage.py seed_people --tokens {path}")
        with path.open(newline="") as file:
            rows = [(int(row["person_id"]), row["token"]) for row in csv.DictReader(file)]
        self._people = [
            LoadPerson(position, person_id, {"Authorization": f"Bearer {token}"})
            for position, (person_id, token) in enumerate(rows)
        ]
        # Everybody may post: the first person, who may have very many friends, and then any.
        others = self._people[1:]
        random.Random(SEED).shuffle(others)  # noqa: S311
        self._order = self._people[:1] + others
        self.take(0, 1)

    def __len__(self) -> int:
        return len(self._people)

    def take(self, part: int, parts: int) -> None:
        """Let ``next`` cycle through one of ``parts`` disjoint parts, in random order."""
        self._turn = cycle(self._order[part::parts] or self._order)

    def first(self) -> LoadPerson:
        return self._people[0]

    def next(self) -> LoadPerson:
        """Return the next person, in the order of ``take``; starts again after the last one."""
        return next(self._turn)

    def friend_of(self, person: LoadPerson) -> LoadPerson:
        return self.at(person.position + 1)

    def at(self, position: int) -> LoadPerson:
        return self._people[position % len(self._people)]


def share_out(environment: Environment, people: People) -> None:
    """Give each worker its own part of the people when a test starts, by worker index.

    A worker that joins later starts with the first person, like a process without a master.
    """
    runner = environment.runner
    assert runner is not None

    def deal(**kwargs: Any) -> None:
        assert isinstance(runner, MasterRunner)
        workers = sorted(runner.clients, key=runner.get_worker_index)
        for part, client_id in enumerate(workers):
            runner.send_message("people", {"part": part, "parts": len(workers)}, client_id)

    if isinstance(runner, MasterRunner):
        environment.events.test_start.add_listener(deal)
    runner.register_message("people", lambda environment, msg: people.take(**msg.data))
