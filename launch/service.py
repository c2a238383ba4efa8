"""The service of one variant: its databases, app servers and drainers."""

import csv
import json
import os
import secrets
import sqlite3
import sys
import urllib.request
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import URLError

from launch.processes import HERE, Processes, free_port
from launch.servers import servers_for
from launch.servers.proxies import HAProxy
from launch.variants import Variant

CORES = os.cpu_count() or 1
UNGUARDED = {
    "MAX_HASHING": "0",
    "LOG_IN_FAILURES_PER_CLIENT": "0",
    "LOG_IN_FAILURES_PER_ACCOUNT": "0",
    "LOG_IN_FAILURES_PER_ADDRESS": "0",
    "SIGNUPS_PER_ADDRESS": "0",
    "FRIEND_REQUESTS": "0",
}
"""Users who wait are measured, and all come from one address; a variant may set limits again."""
POOLS: Mapping[str, tuple[Sequence[str], Mapping[str, str]]] = {
    "probes": ([], {"WEB_THREADS": "2"}),
    "slow": (["nice"], {"WEB_THREADS": "2"}),
}
"""App servers beside the others, behind HAProxy: what starts them, and their settings."""
COUNTS = ("posts", "expected", "missing", "duplicated", "unexpected", "left", "merged")

AWAIT_DRAIN = (sys.executable, "manage.py", "await_drain", "--skip-checks")
SEEDING = """
from django.core.management import call_command

for command in {commands}:
    call_command(*command, skip_checks=command[0] != "migrate")
"""
SEEDING_WAITS_S = 600
"""For a statement."""


class Seed(NamedTuple):
    """The people that a run starts with."""

    people: int = 1000
    friends: int = 500
    graph: str = "ring"
    largest: int | None = None
    """Friends of person 1 at least."""
    password: str | None = None
    """Password of everybody; None: nobody can log in."""

    def check(self) -> None:
        """Raise ValueError if no such people can be made (``accounts.graphs``)."""
        for name, number in (("friends", self.friends), ("largest", self.largest or 0)):
            if number >= self.people:
                raise ValueError(
                    f"--{name} {number} must be below --people {self.people}: nobody has more "
                    f"friends than there are others; --people {number + 1} or more is enough"
                )
        if self.graph == "ring" and self.friends % 2 and self.people % 2:
            raise ValueError(
                f"--people {self.people} can't have --friends {self.friends} each, since both are "
                f"odd; --friends {self.friends - 1} is possible"
            )

    def arguments(self) -> dict[str, str]:
        """Return the seed as options of the command line."""
        return {name: str(value) for name, value in self._asdict().items() if value is not None}

    def as_description(self) -> dict[str, int | str]:
        """Return the seed as a result keeps it."""
        hub = f", one with {self.largest}" if self.largest else ""
        return {"people": self.people, "friends": self.friends, "graph": f"{self.graph}{hub}"}


class Receipt(NamedTuple):
    """Times in seconds of the database's clock; ``delivered_at`` None without a receipt."""

    created_at: float
    delivered_at: float | None
    deliveries: int
    post_id: int = 0


class Service:
    """Runs a variant with its files in ``folder``."""

    guarded = False
    """With the service's own limits, instead of UNGUARDED."""

    def __init__(
        self,
        variant: Variant,
        processes: Processes,
        folder: Path,
        *,
        servers: str = "auto",
        port: int | None = None,
    ) -> None:
        self.variant = variant
        self.processes = processes
        self.folder = folder
        self.port = port or free_port()
        self.address = processes.address("web")
        self.url = f"http://{self.address}:{self.port}"
        self.stream_port = free_port()
        self.secret_key = secrets.token_urlsafe(64)
        """Of this service only: tokens of another one are invalid here."""
        self.tokens = folder / "tokens.csv"
        self.servers = servers_for(variant, servers, processes, folder)
        self.restarts = 0
        """Of workers that had ended."""
        self.limitations: list[str] = []
        """What the variant asks for but this machine doesn't offer."""

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        """Start the servers, make the databases and seed them alike.

        ``seeding``: management commands that follow ``seed_people``, with their arguments.
        """
        for server in self.servers:
            server.start()
        arguments = [f"--{name}={value}" for name, value in seed.arguments().items()]
        commands = [
            ("migrate", "--verbosity=0"),
            ("seed_people", *arguments, f"--tokens={self.tokens}"),
            *([("rebuild_timelines", "--fast")] if self.variant.store_flags.is_healing else []),
            *seeding,
        ]
        for env in self.environments:
            self.seed(commands, env)

    def versions(self) -> dict[str, str]:
        """Return the versions of the started servers."""
        started = {server.role: server.version() for server in self.servers}
        return {"database": f"SQLite {sqlite3.sqlite_version}"} | started

    @property
    def elsewhere(self) -> set[str]:
        """The roles whose servers were not started here, so that their CPU can't be measured."""
        return {server.role for server in self.servers if server.is_external}

    def start(self) -> None:
        """Start app servers and drainers, and wait until they are ready."""
        self.start_workers()
        apps = self.apps()
        for port, env in apps:
            self.start_app_server(port, env)
        pools = {name: self._pool(name) for name in POOLS} if self.variant.is_proxied else {}
        ports = [port for port, _ in apps]
        for port in {*ports, *pools.values()}:
            self.processes.wait_until("web", partial(is_ready, port, address=self.address))
        if self.variant.streams:
            self.start_stream()
        if pools:
            self._haproxy(ports, **pools).start()

    def start_workers(self) -> None:
        for env in self.environments:
            if self.variant.drains:
                self.processes.start("workers", _python("manage.py", "drain"), env)
            if self.variant.uses_queue:
                self.processes.start("workers", _python("manage.py", "work"), env)
            for number, command in enumerate(self.variant.workers, 2):
                host = f"workers{number}"
                self.processes.start("workers", _python("manage.py", command), env, host=host)

    def revive_workers(self) -> None:
        """Start them again if one has ended, as systemd or compose does."""
        if self.processes.have_ended("workers"):
            self.restarts += 1
            self.processes.stop("workers")
            self.start_workers()

    @property
    def stream_address(self) -> str:
        """Host and port of the process that streams feeds."""
        return f"{self.processes.address('stream')}:{self.stream_port}"

    def start_stream(self) -> None:
        """Start the process that streams feeds, and wait until it does."""
        command = _python("manage.py", "stream", f"--bind={self.stream_address}")
        self.processes.start("stream", command, self.environments[0])
        address = self.processes.address("stream")
        is_following = partial(is_ready, self.stream_port, "/healthz", address=address)
        self.processes.wait_until("stream", is_following)

    def stop_web(self) -> None:
        """Stop taking requests; those in flight are finished."""
        self.processes.stop("web")

    def stop_workers(self) -> None:
        """Stop delivering; an audit needs that nothing is being written."""
        self.processes.stop("workers")

    def drain(self) -> Generator[int]:
        """Wait for the drain, or until nothing more is delivered; yield the backlog at times."""
        for env in self.environments:
            yield from map(int, self.processes.lines("await_drain", AWAIT_DRAIN, env))

    def receipts(self) -> list[Receipt] | None:
        """Return the receipt of every post that was written; None if they are not available."""
        receipts = []
        for env in self.environments:
            rows = csv.DictReader(self.manage("receipts", env).splitlines())
            receipts += [_receipt(row) for row in rows]
        return receipts

    def audit(self, accepted: Path) -> dict[str, Any]:
        """Audit the timelines in the store of each database, against all accepted posts."""
        total: Counter[str] = Counter()
        for env in self.environments:
            counts = json.loads(
                self.manage("audit_timelines", env, "--json", f"--accepted={accepted}", ok=(0, 1))
            )
            total += Counter({name: counts[name] for name in COUNTS})
        return as_audit(total)

    @property
    def environments(self) -> list[dict[str, str]]:
        """Return an environment for each database; app servers share one or have their own."""
        database = self.variant.database
        shared = {
            "SECRET_KEY": self.secret_key,
            "ALLOWED_HOSTS": f"localhost,{self.address}",
            "WEB_WORKERS": str(self.variant.app_workers(len(self.processes.cores_of("web")))),
            **({"WEB_THREADS": str(database.threads)} if database.threads else {}),
            "TRUSTED_PROXIES": str(int(self.variant.is_proxied)),
            "HASHING_SLOTS_DIR": f"{self.folder}/slots",
            **({} if self.guarded else UNGUARDED),
            **self.variant.environment,
        }
        for server in self.servers:
            shared |= server.environment
        files = [
            {"DATABASE_URL": f"sqlite:///{self.folder}/feed-{number}.sqlite3"}
            for number in range(database.files)
        ]
        return [file | shared for file in files]

    def apps(self) -> list[tuple[int, dict[str, str]]]:
        """Return the port and the environment of each app server."""
        return list(zip(self.app_ports(), cycle(self.environments), strict=False))

    def app_ports(self) -> list[int]:
        """Return the port of each app server."""
        app_servers = self.variant.database.app_servers
        if self.variant.is_proxied:
            return [free_port() for _ in range(app_servers)]
        # Several app servers share the port: the kernel spreads the connections over them.
        return [self.port] * app_servers

    def start_app_server(self, port: int, env: dict[str, str]) -> int:
        """Start an app server, and return the id of its process."""
        return self.processes.start("web", app_server(port, self.address), env).pid

    def _pool(self, name: str) -> int:
        """Start the app server for probes or slow requests, and return its port."""
        starter, env = POOLS[name]
        port = free_port()
        command = [*starter, *app_server(port, self.address)]
        self.processes.start("web", command, self.environments[0] | {"WEB_WORKERS": "1", **env})
        return port

    def _haproxy(self, app_ports: Sequence[int], *, probes: int, slow: int) -> HAProxy:
        return HAProxy(
            self.processes,
            self.folder / "haproxy",
            port=self.port,
            apps=[f"{self.address}:{port}" for port in app_ports],
            probes=f"{self.address}:{probes}",
            slow=f"{self.address}:{slow}",
            stream=self.stream_address if self.variant.streams else None,
        )

    def seed(self, commands: Iterable[Sequence[str]], env: dict[str, str]) -> None:
        """Run management commands, ``migrate`` first, in one process. Raises RunFailed.

        The system checks run with ``migrate``.
        """
        script = SEEDING.format(commands=[tuple(command) for command in commands])
        argv = _python("manage.py", "shell", "--no-imports", f"--command={script}")
        self.processes.call("seed", argv, env | {"DB_READ_TIMEOUT_S": str(SEEDING_WAITS_S)})

    def manage(
        self, command: str, env: dict[str, str], *arguments: str, ok: Sequence[int] = (0,)
    ) -> str:
        """Run a management command of the service and return its output. Raises RunFailed."""
        argv = _python("manage.py", command, *arguments, "--skip-checks")
        return self.processes.call(command, argv, env, ok=ok)


def as_audit(total: Counter[str]) -> dict[str, Any]:
    """Return an audit: clean if every timeline holds all that is due in it, and nothing else.

    Every timeline is loaded before a run: what is left to the database was not delivered.
    """
    counts = {name: total[name] for name in COUNTS}
    counts["missing"] += counts.pop("left")
    ok = not (counts["missing"] or counts["duplicated"] or counts["unexpected"])
    return counts | {"ok": ok}


def is_ready(port: int, path: str = "/readyz", *, address: str = HERE) -> bool:
    try:
        url = f"http://{address}:{port}{path}"
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def app_server(port: int, address: str = HERE) -> list[str]:
    return _python("-m", "config.serve", f"--bind={address}:{port}", "--share")


def _python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _receipt(row: dict[str, str]) -> Receipt:
    delivered_at = float(row["delivered_at"]) if row["delivered_at"] else None
    times = float(row["created_at"]), delivered_at
    return Receipt(*times, int(row["deliveries"]), int(row["id"]))
