"""Runs the author's code as the laboratory runs the service."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import MySQLdb
import redis

from lab.systems import pythons
from launch.service import Receipt, Seed, Service, as_audit, is_ready
from replays.author.audit import accepted_tags, audit
from replays.author.source import fetched
from replays.author.variants import AuthorVariant

INSIDE = Path(__file__).with_name("inside")
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
HEALTH = "/v1/health-check/"
LOOK_EVERY_S = 0.5
WORKER = ("-A", "feed", "worker", "--loglevel=info")
TOKENS = "person_id,token\n1,none\n"
"""All users post as person 1, without a token."""
PACKAGES = ("Django", "gunicorn", "gevent", "djangorestframework", "PyMySQL", "celery")
VERSIONS = (
    "from importlib.metadata import version; "
    f"print(', '.join(name + ' ' + version(name) for name in {PACKAGES}))"
)


class AuthorService(Service):
    """The author's gunicorn and Celery, with a database and a Redis of this machine."""

    variant: AuthorVariant

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        """Start the servers and seed each database: person 1 with so many friends."""
        self.code = fetched(self.variant.commit)
        self.python = str(pythons.python(REQUIREMENTS))
        for server in self.servers:
            server.start()
        for env in self.environments:
            self._run(
                "migrate", "-m", "django", "migrate", "--run-syncdb", "--verbosity=0", env=env
            )
            self._run("seed", str(INSIDE / "seed.py"), str(seed.friends), env=env)
        self.tokens.write_text(TOKENS)

    def versions(self) -> dict[str, str]:
        packages = self._run("versions", "-c", VERSIONS, env={}).strip()
        return super().versions() | {"web": f"commit {self.variant.commit[:7]}, {packages}"}

    def start(self) -> None:
        self.start_workers()
        for port, env in self.apps():
            self.processes.start("web", [self.python, *self._gunicorn(port)], env)
        self.processes.wait_until("web", partial(is_ready, self.port, HEALTH))

    def start_workers(self) -> None:
        if self.variant.uses_queue:
            where = f"--workdir={self.code}/sample_feed"
            worker = (self.python, "-m", "celery", where, *WORKER)
            self.processes.start("workers", worker, self.environments[0])

    def drain(self) -> Generator[int]:
        """Wait until Celery's queue is empty; without Celery nothing is left to do.

        Raises RunFailed if the worker has ended.
        """
        while self.variant.uses_queue and (left := self._queued()):
            self.processes.check("workers")
            yield left
            time.sleep(LOOK_EVERY_S)

    def receipts(self) -> list[Receipt] | None:
        """Return None: the author's code doesn't record when a post was delivered."""
        return None

    def audit(self, accepted: Path) -> dict[str, Any]:
        """Audit what a reader finds on every app server, against all posts that were accepted."""
        tags, total = accepted_tags(accepted), Counter[str]()
        feeds = self._redis(0) if self.variant.uses_redis else None
        for database in self._databases():
            with closing(connect(database)) as connection:
                total += audit(connection, tags, feeds)
        return as_audit(total)

    @property
    def environments(self) -> list[dict[str, str]]:
        """Return an environment for each database."""
        code = self.code / "sample_feed"
        shared = {
            "DJANGO_SETTINGS_MODULE": "lab_settings",
            "PYTHONPATH": f"{INSIDE}:{code}:{self.code}",
            "PYTHONSAFEPATH": "1",  # the folder that we are in has a feed too
            "PYTHONDONTWRITEBYTECODE": "1",
            "AUTHOR_API_HOST": f"127.0.0.1:{self.port}",
            "AUTHOR_REDIS_PORT": str(urlsplit(self._given.get("REDIS_URL", "")).port or 0),
            **self.variant.environment,
        }
        return [
            shared | {"AUTHOR_DATABASE": json.dumps(database)} for database in self._databases()
        ]

    @property
    def _given(self) -> dict[str, str]:
        """Return the environment variables that the servers give."""
        return {k: v for server in self.servers for k, v in server.environment.items()}

    def _databases(self) -> list[dict[str, str]]:
        """Return Django's settings of each database."""
        if url := self._given.get("DATABASE_URL"):
            parts = urlsplit(url)
            where = {"HOST": "127.0.0.1", "PORT": str(parts.port), "USER": "root", "PASSWORD": ""}
            return [{"ENGINE": "django.db.backends.mysql", "NAME": parts.path[1:], **where}]
        names = (f"author-{number}.sqlite3" for number in range(self.variant.database.files))
        files = (f"{self.folder}/{name}" for name in names)
        return [{"ENGINE": "django.db.backends.sqlite3", "NAME": file} for file in files]

    def _gunicorn(self, port: int) -> list[str]:
        """Return the author's command, but for the port, the logs and the wait when it ends."""
        code = self.code / "sample_feed"
        return [
            *("-m", "gunicorn", f"--chdir={code}", f"--config={code}/gunicorn_config.py"),
            f"--bind=127.0.0.1:{port}",
            *(f"--access-logfile={self.folder}/access.log", "--error-logfile=-"),
            *("--reuse-port", "--graceful-timeout=2", "wsgi:application"),
        ]

    def _queued(self) -> int:
        """Return the messages in Celery's queue, and those that its workers have taken along."""
        broker = self._redis(1)
        return int(broker.llen("celery")) + int(broker.hlen("unacked"))

    def _redis(self, database: int) -> redis.Redis:
        port = urlsplit(self._given["REDIS_URL"]).port
        return redis.Redis(port=port or 0, db=database, socket_timeout=5)

    def _run(self, role: str, *arguments: str, env: dict[str, str]) -> str:
        return self.processes.call(role, [self.python, *arguments], env)


def connect(database: dict[str, str]) -> Any:
    """Connect to a database, by its settings in Django."""
    if "HOST" not in database:
        return sqlite3.connect(database["NAME"])
    host, port, user = database["HOST"], int(database["PORT"]), database["USER"]
    return MySQLdb.connect(host=host, port=port, user=user, database=database["NAME"])
