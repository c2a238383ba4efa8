"""Servers that run already, named by DATABASE_URL, REDIS_URL and BROKER_URL.

A run must start from nothing and leave nothing: it makes a database of its own on the server that
DATABASE_URL names, and drops it, and takes only a Redis database or a queue that is empty.
"""

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from configparser import ConfigParser
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

import MySQLdb
import psycopg
import redis
from amqp import Connection
from amqp.exceptions import AMQPError, NotFound
from MySQLdb.constants import ER
from psycopg import errors

from launch.processes import Processes, RunFailed
from launch.servers import mysql, postgresql
from launch.servers.base import Backend, differences, profile_of
from launch.servers.redis import redis_name
from launch.variants import AS_IS

QUEUES = ("celery", "default", "default.DQ", "default.XQ")
"""Celery's, and Dramatiq's: tasks, delayed ones, and those that failed."""
PREFIX = "feedlab"
"""Of the databases of runs."""


class ExternalDatabase(Backend):
    is_external = True
    role = "database"
    engine: ClassVar[str]
    scheme: ClassVar[str]
    """Of DATABASE_URL."""
    compared: ClassVar[Sequence[str]]
    """Settings of a profile that are compared; others have different names on other servers."""
    reported: ClassVar[Sequence[str]]
    """Settings beside them that a report should name."""
    creation: ClassVar[str]
    """What makes a database."""
    show: ClassVar[str]
    """What answers with all settings: name, value, and perhaps more."""

    def __init__(self, processes: Processes, profile: str) -> None:
        self.url = _url_in("DATABASE_URL", self.scheme)
        self.processes = processes
        self.profile = None if profile == AS_IS else profile_of(self.engine, profile)
        self.database = f"{PREFIX}{os.getpid()}"

    @property
    def environment(self) -> dict[str, str]:
        url = urlsplit(self.url)._replace(path=f"/{self.database}")
        return {"DATABASE_URL": url.geturl()}

    def start(self) -> None:
        """Make the run's database. Raises RunFailed, also if the server has another profile."""
        if self.profile and (
            wrong := differences(expected(self.profile, self.compared), self.settings())
        ):
            raise RunFailed(
                f"DATABASE_URL isn't set up as {self.profile.name}: {', '.join(wrong)}; "
                f"the variants {self.scheme}_asis-… take a server as it is"
            )
        self.execute(self.creation.format(self.database))
        self.processes.at_exit(lambda: self.execute(f"DROP DATABASE {self.database}"))

    def version(self) -> str:
        """Return the version, and the settings that a report should name."""
        settings = self.settings()
        names = (*self.compared, *self.reported)
        reported = ", ".join(f"{name}={settings[name]}" for name in names if name in settings)
        return f"{self.name(settings)} (external, {reported})"

    def settings(self) -> dict[str, str]:
        return {name: value for name, value, *_ in self.execute(self.show)}

    @abstractmethod
    def name(self, settings: Mapping[str, str]) -> str:
        """Return name and version of a server with these settings."""

    @abstractmethod
    def execute(self, sql: str) -> Any:
        """Raises RunFailed, which names a right that is missing."""


class ExternalMySQL(ExternalDatabase):
    engine = scheme = "mysql"
    compared = ("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "max_connections")
    reported = ("sync_binlog", "log_bin", "performance_schema")
    creation = mysql.CREATION
    show = "SHOW GLOBAL VARIABLES"

    def name(self, settings: Mapping[str, str]) -> str:
        return mysql.mysql_name(settings["version"])

    def execute(self, sql: str) -> Any:
        url = urlsplit(self.url)
        user = unquote(url.username or "root")
        try:
            with MySQLdb.connect(
                host=url.hostname or "127.0.0.1",
                port=url.port or 3306,
                user=user,
                password=unquote(url.password or ""),
                connect_timeout=5,
            ) as connection:
                cursor = connection.cursor()
                cursor.execute(sql)
                return cursor.fetchall()
        except MySQLdb.Error as error:
            hint = ""
            if error.args[0] == ER.DBACCESS_DENIED_ERROR:
                hint = f"; its user needs GRANT ALL ON `{PREFIX}%`.* TO '{user}'@…"
            raise RunFailed(f"DATABASE_URL: {error}{hint}") from error


class ExternalPostgreSQL(ExternalDatabase):
    engine = "postgresql"
    scheme = "postgres"
    compared = ("shared_buffers", "synchronous_commit", "max_connections")
    reported = ("fsync", "full_page_writes")
    creation = postgresql.CREATION
    show = "SHOW ALL"

    def name(self, settings: Mapping[str, str]) -> str:
        return postgresql.postgresql_name(settings["server_version"])

    def execute(self, sql: str) -> Any:
        try:
            with closing(psycopg.connect(self.url, autocommit=True, connect_timeout=5)) as one:
                cursor = one.execute(sql)
                return cursor.fetchall() if cursor.description else None
        except errors.InsufficientPrivilege as error:
            raise RunFailed(f"DATABASE_URL: {error}; its user needs CREATEDB") from error
        except psycopg.Error as error:
            raise RunFailed(f"DATABASE_URL: {error}") from error


class ExternalRedis(Backend):
    is_external = True
    role = "redis"

    def __init__(self, processes: Processes, name: str) -> None:
        self.processes = processes
        self.name = name
        self.client = redis.Redis.from_url(_url_in(name, "redis"), socket_timeout=5)

    @property
    def environment(self) -> dict[str, str]:
        return {self.name: os.environ[self.name]}

    def start(self) -> None:
        """Take the database. Raises RunFailed unless it is there and empty."""
        try:
            if self.client.dbsize():
                raise RunFailed(f"{self.name} has to name an empty database; this one isn't")
        except redis.RedisError as error:
            raise RunFailed(f"{self.name}: {error}") from error
        self.processes.at_exit(self.client.flushdb)

    def version(self) -> str:
        return f"{redis_name(self.client.info('server'))} (external)"


class ExternalRabbitMQ(Backend):
    is_external = True
    role = "broker"

    def __init__(self, processes: Processes) -> None:
        url = urlsplit(_url_in("BROKER_URL", "amqp"))
        self.processes = processes
        self.server = {
            "host": f"{url.hostname}:{url.port or 5672}",
            "userid": unquote(url.username or "guest"),
            "password": unquote(url.password or "guest"),
            "virtual_host": unquote(url.path[1:]) or "/",
        }

    @property
    def environment(self) -> dict[str, str]:
        return {"BROKER_URL": os.environ["BROKER_URL"]}

    def start(self) -> None:
        """Take the virtual host. Raises RunFailed if a queue of tasks is there already."""
        for queue in QUEUES:
            try:
                with self._connection() as connection:
                    connection.channel().queue_declare(queue, passive=True)
            except NotFound:
                continue
            except (OSError, AMQPError) as error:
                raise RunFailed(f"BROKER_URL: {error}") from error
            raise RunFailed(f"BROKER_URL has to name a virtual host without a queue {queue!r}")
        self.processes.at_exit(self._delete_queues)

    def version(self) -> str:
        with self._connection() as connection:
            return f"RabbitMQ {connection.server_properties['version']} (external)"

    def _delete_queues(self) -> None:
        with self._connection() as connection:
            for queue in QUEUES:
                connection.channel().queue_delete(queue)

    def _connection(self) -> Connection:
        """Return a connection that is open in a ``with`` block."""
        return Connection(connect_timeout=5, read_timeout=5, **self.server)


def _url_in(name: str, scheme: str) -> str:
    """Return the address in an environment variable. Raises RunFailed if it is another kind's."""
    url = os.environ.get(name, "")
    if not url.startswith(scheme):
        raise RunFailed(f"--servers external needs {name}={scheme}://…; it is {url or 'not set'!r}")
    return url


def expected(profile: Path, names: Iterable[str]) -> dict[str, str]:
    """Return settings of a profile."""
    config = ConfigParser(allow_no_value=True)
    config.read_string(f"[postgresql]\n{profile.read_text()}")  # MySQL's name a section
    settings = {name: value for section in config.values() for name, value in section.items()}
    return {name: settings[name] for name in names}
