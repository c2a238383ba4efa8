"""Runs, or only meets, a service that speaks the API of docs/target-api.md."""

import csv
import secrets
import sys
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from lab.systems import pythons
from lab.systems.api import READERS, Api, Person, read_people
from lab.systems.audit import Friends
from lab.systems.variants import AdapterVariant, TargetVariant
from launch.processes import Processes, RunFailed
from launch.service import CORES, Receipt, Seed, Service, is_ready

ROLES = {"web", "workers", "database", "redis", "broker", "proxy", "collector"}
VERSIONS = (
    "from importlib.metadata import version; import sys; "
    "print(', '.join(f'{name} {version(name)}' for name in sys.argv[1:]))"
)


def edges(processes: Processes, graph: Mapping[str, object], kind: str) -> list[tuple[int, int]]:
    """Return (author, reader) of everybody who reads somebody; ``kind``: as FEED_EDGES."""
    options = (f"--{name}={value}" for name, value in graph.items())
    command = (sys.executable, "manage.py", "list_edges", *options, "--skip-checks")
    rows = csv.DictReader(processes.lines("edges", command, {"FEED_EDGES": kind}))
    return [(int(row["author_id"]), int(row["reader_id"])) for row in rows]


class OutsideService(Service):
    """A service known by its API alone."""

    people: Sequence[Person]
    friends: Friends

    @cached_property
    def api(self) -> Api:
        return Api(self.url)

    def meet(self, seed: Seed) -> None:
        """Ask everybody for their friends. Raises RunFailed if these can't be audited."""
        self.people = read_people(self.tokens)
        self.friends = self.asked_friends()
        for person in self.people:
            for friend in self.friends[person.id]:
                if person.id not in self.friends.get(friend, ()):
                    raise RunFailed(
                        f"{self.url}: person {person.id} has the friend {friend}, who has no token "
                        "or isn't theirs"
                    )
        neighbours = zip(self.people, [*self.people[1:], self.people[0]], strict=True)
        for person, neighbour in list(neighbours)[: 1 if seed.graph == "star" else None]:
            if neighbour.id not in self.friends[person.id]:
                raise RunFailed(f"{person.id} and {neighbour.id}, neighbours, are no friends")

    def asked_friends(self) -> Friends:
        with ThreadPoolExecutor(READERS) as readers:
            friends_of = readers.map(self.api.authors, self.people)
            return {
                person.id: friends for person, friends in zip(self.people, friends_of, strict=True)
            }

    def friendships(self, seed: Seed) -> list[tuple[int, int]]:
        """Return the seed's friendships, each as (person, friend) and (friend, person)."""
        return edges(self.processes, seed._replace(password=None).arguments(), "friends")

    def drain(self) -> Generator[int]:
        """Yield nothing: what is left to deliver shows in the feeds alone."""
        yield from ()

    def receipts(self) -> list[Receipt] | None:
        return None

    def audit(self, accepted: Path) -> dict[str, Any]:
        raise NotImplementedError("lab.systems.conclusion audits through the API")


class TargetService(OutsideService):
    """A service that runs already; nothing is started or stopped."""

    variant: TargetVariant

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        self.url = self.variant.url
        self.tokens = self.variant.tokens
        for role, pid in self.variant.pids.items():
            self.processes.account(role, pid)
        if self.variant.befriends:
            self._befriend(seed)
        self.meet(seed)

    def versions(self) -> dict[str, str]:
        return {"target": self.url}

    @property
    def elsewhere(self) -> set[str]:
        return set() if self.variant.pids else ROLES

    def start(self) -> None:
        """Do nothing: it runs."""

    def _befriend(self, seed: Seed) -> None:
        people = read_people(self.tokens)
        rows = self.friendships(seed._replace(people=len(people)))
        with ThreadPoolExecutor(READERS) as askers:
            made = [
                askers.submit(self.api.befriend, people[person - 1], people[friend - 1].id)
                for person, friend in rows
            ]
        for one in made:
            one.result()


class AdapterService(OutsideService):
    """The app of an adapter, with servers of this machine."""

    variant: AdapterVariant

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        """Start the servers, and let the adapter load people and friendships from files."""
        self.seed_of_people = seed
        requirements = self.variant.folder / "requirements.txt"
        self.python = str(pythons.python(requirements)) if requirements.exists() else sys.executable
        for server in self.servers:
            server.start()
        self._write(
            "tokens",
            "token",
            [(number, secrets.token_hex()) for number in range(1, seed.people + 1)],
        )
        self.seeded = self.friendships(seed)
        self._write("friendships", "friend_id", self.seeded)
        self.processes.call("seed", self._argv(self.variant.seed), self.environment)

    def versions(self) -> dict[str, str]:
        command = [self.python, "-c", VERSIONS, *self.variant.packages]
        packages = self.processes.call("versions", command, {}).strip()
        return {"web": packages} | {server.role: server.version() for server in self.servers}

    def start(self) -> None:
        for command in self.variant.beside:
            self.processes.start("workers", self._argv(command), self.environment)
        self.processes.start("web", self._argv(self.variant.web), self.environment)
        self.processes.wait_until("web", lambda: is_ready(self.port))
        self.meet(self.seed_of_people)
        listed = {
            (person, friend) for person, friends in self.friends.items() for friend in friends
        }
        if listed != {*self.seeded}:
            raise RunFailed(f"{self.variant.name} tells other friendships than it was seeded with")

    @property
    def environment(self) -> dict[str, str]:
        given = {k: v for server in self.servers for k, v in server.environment.items()}
        return given | {
            "PORT": str(self.port),
            "TOKENS": str(self.tokens),
            "FRIENDSHIPS": str(self.folder / "friendships.csv"),
            "FOLDER": str(self.folder),
            "PYTHONPATH": str(self.variant.folder),
            "PYTHONSAFEPATH": "1",  # the folder that we are in is another service
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        known = {"port": self.port, "cores": CORES, "app_workers": CORES + 1}
        return [self.python, *(argument.format(**known) for argument in arguments)]

    def _write(self, name: str, column: str, rows: Sequence[tuple[int, object]]) -> None:
        with (self.folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("person_id", column), *rows])
