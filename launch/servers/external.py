"""Servers that run already, named by DATABASE_URL, REDIS_URL and BROKER_URL.

A run must start from nothing and leave nothing: it makes a MySQL database of its own beside the
one that is named and drops it, and takes only a Redis database or a queue that is empty.
"""

import os
from configparser import ConfigParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import MySQLdb
import redis
from amqp import Connection
from amqp.exceptions import AMQPError, NotFound
from MySQLdb.constants import ER

from launch.processes import Processes, RunFailed
from launch.servers.base import Backend
from launch.servers.mysql import PROFILES, creation_of, differences, mysql_name
from launch.servers.redis import redis_name
from launch.variants import AS_IS

QUEUE = "celery"
PREFIX = "feedlab"
"""Of the databases of runs."""
COMPARED = ("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "max_connections")
"""Settings of a profile that are compared; others have different names on other servers."""
REPORTED = (*COMPARED, "sync_binlog", "log_bin", "performance_schema")


class ExternalMySQL(Backend):
    is_external = True
    role = "database"

    def __init__(self, processes: Processes, profile: str) -> None:
        url = urlsplit(_url_in("DATABASE_URL", "mysql"))
        self.processes = processes
        self.profile = None if profile == AS_IS else PROFILES / profile
        self.database = f"{PREFIX}{os.getpid()}"
        self.url = url._replace(path=f"/{self.database}").geturl()
        self.login = {
            "host": url.hostname or "127.0.0.1",
            "port": url.port or 3306,
            "user": unquote(url.username or "root"),
            "password": unquote(url.password or ""),
        }

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.url}

    def start(self) -> None:
        """Make the run's database. Raises RunFailed, also if the server has another profile."""
        if self.profile and (wrong := differences(expected(self.profile), self._settings())):
            raise RunFailed(
                f"DATABASE_URL isn't set up as {self.profile.name}: {', '.join(wrong)}; "
                "the variants mysql_asis-… take a server as it is"
            )
        self._execute(creation_of(self.database))
        self.processes.at_exit(lambda: self._execute(f"DROP DATABASE {self.database}"))

    def version(self) -> str:
        """Return the version, and the settings that a report should name."""
        settings = self._settings()
        reported = ", ".join(f"{name}={settings[name]}" for name in REPORTED if name in settings)
        return f"{mysql_name(settings['version'])} (external, {reported})"

    def _settings(self) -> dict[str, str]:
        return dict(self._execute("SHOW GLOBAL VARIABLES"))

    def _execute(self, sql: str) -> Any:
        try:
            with MySQLdb.connect(connect_timeout=5, **self.login) as connection:
                cursor = connection.cursor()
                cursor.execute(sql)
                return cursor.fetchall()
        except MySQLdb.Error as error:
            hint = ""
            if error.args[0] == ER.DBACCESS_DENIED_ERROR:
                hint = f"; its user needs GRANT ALL ON `{PREFIX}%`.* TO '{self.login['user']}'@…"
            raise RunFailed(f"DATABASE_URL: {error}{hint}") from error


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
        """Take the virtual host. Raises RunFailed if Celery's queue is there already."""
        try:
            with self._connection() as connection:
                connection.channel().queue_declare(QUEUE, passive=True)
        except NotFound:
            self.processes.at_exit(self._delete_queue)
            return
        except (OSError, AMQPError) as error:
            raise RunFailed(f"BROKER_URL: {error}") from error
        raise RunFailed(f"BROKER_URL has to name a virtual host without a queue {QUEUE!r}")

    def version(self) -> str:
        with self._connection() as connection:
            return f"RabbitMQ {connection.server_properties['version']} (external)"

    def _delete_queue(self) -> None:
        with self._connection() as connection:
            connection.channel().queue_delete(QUEUE)

    def _connection(self) -> Connection:
        connection = Connection(connect_timeout=5, read_timeout=5, **self.server)
        connection.connect()
        return connection


def _url_in(name: str, scheme: str) -> str:
    """Return the address in an environment variable. Raises RunFailed if it is another kind's."""
    url = os.environ.get(name, "")
    if not url.startswith(scheme):
        raise RunFailed(f"--servers external needs {name}={scheme}://…; it is {url or 'not set'!r}")
    return url


def expected(profile: Path) -> dict[str, str]:
    """Return the compared settings of a profile."""
    config = ConfigParser(allow_no_value=True)
    config.read(profile)
    return {name: config["mysqld"][name] for name in COMPARED}
