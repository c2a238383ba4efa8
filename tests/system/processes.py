"""A small service of real processes under load, and faults during its work."""

import json
import os
import random
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import MySQLdb
import psutil

from launch.processes import Processes
from launch.servers.base import Server
from launch.service import Seed, Service
from launch.variants import Variant

Commands = Sequence[Sequence[str]]
SEED = Seed(people=200, friends=100)
JSON = {"Content-Type": "application/json"}
SQLITE_WRITE_LOCK = "120 120"  # the byte range of it in the -shm file


class Running:
    """A variant that serves, with clients that post as fast as they are answered."""

    def __init__(
        self, name: str, folder: Path, clients: int = 4, seed: Seed = SEED, seeding: Commands = ()
    ):
        self.folder, self.seed, self.seeding = folder, seed, seeding
        self.roles = ["web", "workers"]
        self.processes = Processes(folder / "logs")
        self.service = Service(Variant.named(name), self.processes, folder)
        self.database = folder / "feed-0.sqlite3"
        self.accepted: list[tuple[float, dict]] = []
        self.refused: list[float] = []
        self._stopping = threading.Event()
        self._clients: list[threading.Thread] = []
        self._posting = clients
        self._pause_s = 0.0

    def __enter__(self):
        self.processes.__enter__()
        try:
            self.service.prepare(self.seed, self.seeding)
            self.service.start()
        except BaseException:
            self.processes.__exit__(None, None, None)
            raise
        tokens = self.service.tokens.read_text().split()[1:]
        self.tokens = [row.split(",")[1] for row in tokens]
        self._start_clients(self._posting)
        return self

    def __exit__(self, *error):
        self.stop_clients()
        self.processes.__exit__(None, None, None)

    @contextmanager
    def load(self, clients: int, pause_s: float = 0.0):
        """Post while the block runs, or until the audit; pause after each answer."""
        self._pause_s = pause_s
        self._start_clients(clients)
        try:
            yield
        finally:
            self.stop_clients()

    @contextmanager
    def without_clients(self):
        """Let nobody post while the block runs."""
        clients = len(self._clients)
        self.stop_clients()
        yield
        self._start_clients(clients)

    def _start_clients(self, clients: int):
        self.loaded_at = time.monotonic()
        self._stopping.clear()
        self._clients = [threading.Thread(target=self._post, args=(n,)) for n in range(clients)]
        for client in self._clients:
            client.start()

    def stop_clients(self):
        self._stopping.set()
        for client in self._clients:
            client.join()

    def accepted_between(self, start: float, end: float) -> int:
        return sum(start <= at < end for at, _ in self.accepted)

    def audit(self) -> dict:
        """Stop the load, wait for the drain and audit against all accepted posts."""
        return self.service.audit(self._drained())

    def audit_pages(self) -> dict:
        """Audit like ``audit``; what a timeline leaves to the database is no fault here."""
        (env,) = self.service.environments
        accepted = f"--accepted={self._drained()}"
        told = self.service.manage("audit_timelines", env, "--json", accepted, ok=(0, 1))
        return json.loads(told)

    def _drained(self) -> Path:
        self.stop_clients()
        list(self.service.drain())
        path = self.folder / "accepted.csv"
        rows = [f"{post['id']},{post['author']},{post['created_at']}" for _, post in self.accepted]
        path.write_text("\n".join(["id,author,created_at", *rows]))
        return path

    def server(self, role: str) -> Server:
        return next(server for server in self.service.servers if server.role == role)

    def kill(self, role: str):
        for pid in self.processes.pids(role):
            os.kill(pid, signal.SIGKILL)
        self.processes.stop(role)

    def query(self, sql: str) -> int:
        """Ask the database for one number."""
        return self.rows(sql)[0][0]

    def rows(self, sql: str) -> Sequence[tuple]:
        with closing(self._connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            return cursor.fetchall()

    def _connect(self):
        url = urlsplit(self.service.environments[0]["DATABASE_URL"])
        if url.scheme == "sqlite":
            return sqlite3.connect(self.database, timeout=5)
        return MySQLdb.connect(host=url.hostname, port=url.port, user=url.username, db="feed")

    def end_connection(self, number: int):
        """End a connection to MySQL, and free what it had locked."""
        with suppress(MySQLdb.OperationalError), closing(self._connect()) as connection:
            connection.cursor().execute(f"KILL {number}")  # unless it has ended by itself

    def workers_of(self, role: str) -> list[int]:
        """Return the processes of a role that do the work: gunicorn's children, or the drainer."""
        parents = [psutil.Process(pid) for pid in self.processes.pids(role)]
        return [p.pid for parent in parents for p in parent.children() or [parent]]

    def in_transaction(self, pid: int) -> bool:
        """Return whether a process is inside a transaction (on SQLite: a write transaction)."""
        if not self.service.servers:
            return self._holds_sqlites_lock(pid)
        return bool(self.transactions(pid))

    def transactions(self, pid: int) -> list[int]:
        """Return MySQL's ids of the connections on which a process is inside a transaction."""
        time.sleep(0.15)  # InnoDB renews that table only if nobody has read it for 0.1 s
        ports = [c.laddr.port for c in psutil.Process(pid).net_connections("tcp")]
        hosts = ", ".join(f"'127.0.0.1:{port}'" for port in ports) or "''"
        found = self.rows(f"""
            SELECT id FROM information_schema.innodb_trx
              JOIN information_schema.processlist ON id = trx_mysql_thread_id
             WHERE host IN ({hosts})
        """)
        return [number for (number,) in found]

    def _holds_sqlites_lock(self, pid: int) -> bool:
        inode = Path(f"{self.database}-shm").stat().st_ino
        locks = Path("/proc/locks").read_text().splitlines()
        return any(
            f" WRITE {pid} " in lock and lock.endswith(f":{inode} {SQLITE_WRITE_LOCK}")
            for lock in locks
        )

    def _post(self, number: int):
        rng = random.Random(number)
        connection = HTTPConnection("127.0.0.1", self.service.port, timeout=20)
        with closing(connection):
            while not self._stopping.is_set():
                headers = {"Authorization": f"Bearer {rng.choice(self.tokens)}"} | JSON
                try:
                    connection.request("POST", "/v1/posts/", '{"body": "text"}', headers)
                    answer = connection.getresponse()
                    body = answer.read()
                except (OSError, HTTPException):
                    connection.close()  # the next request opens it again
                    body = None
                if body and answer.status == 201:
                    self.accepted.append((time.monotonic(), json.loads(body)))
                else:
                    self.refused.append(time.monotonic())
                    time.sleep(0.01)
                self._stopping.wait(self._pause_s)


class Repeated:
    """Threads that do something again and again while a block runs, until ``stopping`` is set."""

    def __init__(self, pieces):
        self.stopping = threading.Event()
        self._threads = [threading.Thread(target=piece) for piece in pieces]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self.stopping.set()
        for thread in self._threads:
            thread.join()


def wait_for(condition, within_s=20):
    give_up_at = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def kill_when(pids, hit) -> int:
    """SIGKILL the first process that is stopped where ``hit(pid)`` says so; return its pid."""
    pid = freeze_when(pids, hit)
    os.kill(pid, signal.SIGKILL)
    return pid


def freeze_when(pids, hit, *, within_s: float = 60) -> int:
    """SIGSTOP a process again and again until ``hit(pid)`` says so; return its pid."""
    give_up_at = time.monotonic() + within_s
    while time.monotonic() < give_up_at:
        for pid in pids():
            os.kill(pid, signal.SIGSTOP)
            while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
                time.sleep(0.0005)
            if hit(pid):
                return pid
            os.kill(pid, signal.SIGCONT)
            time.sleep(random.random() / 50)
    raise AssertionError("no process was ever found in the middle of its work")
