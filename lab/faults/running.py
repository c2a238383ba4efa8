"""A service of real processes under load: clients who post, and handles to break its parts."""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import psutil

from lab.faults.databases import ENGINES, ERRORS, Engine
from lab.running.threads import repeated
from lab.systems.api import read_people
from launch.hosts import processes_for
from launch.processes import RunFailed, leaves
from launch.servers.base import Server
from launch.service import Seed, Service
from launch.variants import Variant

SEED = Seed(people=200, friends=100)
JSON = {"Content-Type": "application/json"}
POST = '{{"body": "{}"}}'
DOUBLED = "SELECT count(*) - count(DISTINCT body) FROM feed_post WHERE length(body) = 36"
"""Posts beyond the first of each idempotency key, which is their text."""
CLIENT_WAITS_S = 20
MET_WITHIN_S = 60
"""Until then a process has been stopped in the middle of its work."""
SQLITE_WRITE_LOCK = "120 120"  # the byte range of it in the -shm file


class Answer(NamedTuple):
    """A request and what came back. Times are of the monotonic clock."""

    request: str
    """Method and route, like "POST /v1/posts/"."""
    begun_at: float
    ended_at: float
    status: int | None
    """None: no answer."""
    retry_after: str | None = None

    @property
    def seconds(self) -> float:
        return self.ended_at - self.begun_at

    @property
    def outcome(self) -> str:
        """The status; a refusal has to say when to come again."""
        if self.status in (429, 503) and not self.retry_after:
            return f"{self.status} without Retry-After"
        return str(self.status or "none")


class Running:
    """A service that runs, what its clients got of it, and handles to break its parts."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.processes, self.folder = service.processes, service.folder
        self.database = service.folder / "feed-0.sqlite3"
        self.tokens = [person.token for person in read_people(service.tokens)]
        self.accepted: list[tuple[float, dict[str, Any]]] = []
        """Time of the answer, and the post."""
        self.refused: list[float] = []
        self.answers: list[Answer] = []
        """Of all clients and readers."""
        self._turns: list[threading.Lock] = []
        """Each is held while a client posts."""

    @contextmanager
    def load(self, clients: int, pause_s: float = 0.0) -> Iterator[None]:
        """Post while the block runs; a client pauses after each answer."""
        self._turns = [threading.Lock() for _ in range(clients)]
        posting = [self._post(number, turn) for number, turn in enumerate(self._turns)]
        with repeated(*(partial(next, posts) for posts in posting), every_s=pause_s):
            yield

    @contextmanager
    def without_clients(self) -> Iterator[None]:
        """Let nobody post while the block runs."""
        with ExitStack() as paused:
            for turn in self._turns:
                paused.enter_context(turn)
            yield

    def _post(self, number: int, turn: threading.Lock) -> Iterator[None]:
        """Post once per step, in a client's turn; half of the clients send idempotency keys."""
        rng = random.Random(number)  # noqa: S311
        with closing(self.connection()) as connection:
            while True:
                token, status = rng.choice(self.tokens), None
                key = str(uuid4()) if number % 2 else None
                while status != 201:
                    with turn:
                        text = POST.format(key or "text")
                        status, post = self.ask(connection, token, "POST", "/v1/posts/", text, key)
                        if status == 201:
                            self.accepted.append((time.monotonic(), post))
                        else:
                            self.refused.append(time.monotonic())
                            time.sleep(0.01)
                    yield
                    if key is None:  # else it is safe to send it again, whatever became of it
                        break

    def accepted_between(self, start: float, end: float) -> int:
        return sum(start <= at < end for at, _ in self.accepted)

    def drained(self) -> Path:
        """Wait for the drain; return the file of the accepted posts."""
        list(self.service.drain())
        path = self.folder / "accepted.csv"
        rows = [f"{post['id']},{post['author']},{post['created_at']}" for _, post in self.accepted]
        path.write_text("\n".join(["id,author,created_at", *rows]))
        return path

    def server(self, role: str) -> Server:
        """Return a server that was started here. Raises StopIteration if there is none."""
        return next(
            server
            for server in self.service.servers
            if server.role == role and isinstance(server, Server)
        )

    def restart(self, role: str) -> None:
        """Kill a server and start it again."""
        self.processes.kill(role)
        self.server(role).start()

    def replace_drainers(self) -> None:
        self.processes.stop("workers")
        self.service.start_workers()

    def restart_service(self) -> None:
        """Stop app servers and those who deliver, and start them again."""
        for role in ("proxy", "web", "workers"):
            self.processes.stop(role)
        self.service.start()

    def lack(self, safeguard: str) -> None:
        """Take a safeguard out of a service that runs ``lab.faults.unguarded``; "": none."""
        (self.folder / "lacking").write_text(safeguard)

    def query(self, sql: str) -> int:
        """Ask the database for one number."""
        return int(self.rows(sql)[0][0])

    def rows(self, sql: str) -> Sequence[tuple[Any, ...]]:
        with closing(self.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            found: Sequence[tuple[Any, ...]] = cursor.fetchall()
            return found

    def connect(self) -> Any:
        """Return a new connection to the database, not through a proxy."""
        if self.service.variant.database.profile is None:
            return sqlite3.connect(self.database, timeout=5)
        url = self.server("database").environment["DATABASE_URL"]
        return self.engine.connect(urlsplit(url))

    @property
    def engine(self) -> Engine:
        """What to ask of the database's server."""
        return ENGINES[self.service.variant.database.engine]

    def connection(self, timeout_s: float = CLIENT_WAITS_S) -> HTTPConnection:
        """Return a new connection of a client, which opens when it is used."""
        return HTTPConnection(self.service.address, self.service.port, timeout=timeout_s)

    def end_connection(self, number: int) -> None:
        """End a connection to the database, and free what it had locked."""
        with suppress(*ERRORS), closing(self.connect()) as connection:
            connection.cursor().execute(self.engine.end.format(number=number))

    def workers_of(self, role: str) -> list[int]:
        """Return the processes of a role that do the work: those that have no children."""
        return leaves(self.processes.pids(role))

    def in_transaction(self, pid: int) -> bool:
        """Return whether a process is inside a transaction (on SQLite: a write transaction)."""
        if not self.service.servers:
            return self._holds_sqlites_lock(pid)
        return bool(self.transactions(pid))

    def transactions(self, pid: int) -> list[int]:
        """Return the numbers of the connections on which a process is inside a transaction."""
        time.sleep(0.15)  # InnoDB renews that table only if nobody has read it for 0.1 s
        ends = [c.laddr for c in psutil.Process(pid).net_connections("tcp")]
        addresses = ", ".join(f"'{end.ip}:{end.port}'" for end in ends) or "''"
        found = self.rows(self.engine.in_transaction.format(addresses=addresses))
        return [number for (number,) in found]

    def _holds_sqlites_lock(self, pid: int) -> bool:
        inode = Path(f"{self.database}-shm").stat().st_ino
        locks = Path("/proc/locks").read_text().splitlines()
        return any(
            f" WRITE {pid} " in lock and lock.endswith(f":{inode} {SQLITE_WRITE_LOCK}")
            for lock in locks
        )

    def ask(
        self,
        connection: HTTPConnection,
        token: str,
        method: str,
        path: str,
        text: str | None,
        idempotency_key: str | None = None,
    ) -> tuple[int | None, Any]:
        """Send a request once; return its status and parsed body, or None for no answer."""
        headers = {"Authorization": f"Bearer {token}"} | JSON
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        begun_at, status, found, retry_after = time.monotonic(), None, None, None
        try:
            connection.request(method, path, text, headers)
            answer = connection.getresponse()
            body = answer.read()
            status, retry_after = answer.status, answer.getheader("Retry-After")
            found = json.loads(body) if body else None
        except (OSError, HTTPException):
            connection.close()  # the next request opens it again
        except json.JSONDecodeError:
            pass  # a page of gunicorn's: the status says enough
        request = f"{method} {path.partition('?')[0]}"
        answered = Answer(request, begun_at, time.monotonic(), status, retry_after)
        self.answers.append(answered)
        return status, found


@contextmanager
def serving(variant: str | Variant, folder: Path, seed: Seed = SEED) -> Iterator[Running]:
    """Start a variant, or the one of this name; all of it ends with the block."""
    if isinstance(variant, str):
        variant = Variant.named(variant)
    with processes_for(variant, folder / "logs") as processes:
        service = Service(variant, processes, folder)
        service.prepare(seed)
        service.start()
        yield Running(service)


def audit_pages(service: Service, accepted: Path) -> dict[str, Any]:
    """Return what ``audit_timelines`` counts; what it leaves to the database is no fault.

    Posts that were written twice count as duplicated.
    """
    (env,) = service.environments
    found = service.manage("audit_timelines", env, "--json", f"--accepted={accepted}", ok=(0, 1))
    counts: dict[str, Any] = json.loads(found)
    counts["duplicated"] += Running(service).query(DOUBLED)
    return counts


def wait_for(condition: Callable[[], int], within_s: float = 20) -> int:
    """Wait until a condition holds, and return its value. Raises RunFailed if it never did."""
    give_up_at = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > give_up_at:
            raise RunFailed(f"what was waited for didn't come within {within_s} s")
        time.sleep(0.01)
    return value


def _stop(pid: int) -> bool:
    """SIGSTOP a process, and wait until it stands still; return False if it has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.suspend()
        while (status := process.status()) != psutil.STATUS_ZOMBIE:
            if status == psutil.STATUS_STOPPED:
                return True
            time.sleep(0.0005)
    return False


def kill_when(running: Running, role: str, hit: Callable[[int], bool]) -> int:
    """SIGKILL the first worker that is stopped where ``hit(pid)`` says so; return its pid."""
    pid = freeze_when(running, role, hit)
    os.kill(pid, signal.SIGKILL)
    return pid


def freeze_when(running: Running, role: str, hit: Callable[[int], bool]) -> int:
    """SIGSTOP workers of a role again and again until ``hit(pid)`` says so; return the pid.

    Raises RunFailed if that takes too long.
    """
    give_up_at = time.monotonic() + MET_WITHIN_S
    while time.monotonic() < give_up_at:
        for pid in running.workers_of(role):
            if not _stop(pid):
                continue
            try:
                is_hit = hit(pid)
            except BaseException:
                os.kill(pid, signal.SIGCONT)
                raise
            if is_hit:
                return pid
            os.kill(pid, signal.SIGCONT)
            time.sleep(random.random() / 50)  # noqa: S311
    raise RunFailed("no process was ever found in the middle of its work")
