"""What faults ask of the database's server, in the words of each engine."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult

import MySQLdb
import psycopg

ERRORS = (MySQLdb.Error, psycopg.Error, sqlite3.Error)


@dataclass(frozen=True)
class Engine:
    connect: Callable[[SplitResult], Any]
    """Return a connection to a DATABASE_URL."""
    own: str
    """Returns the number of the connection that asks."""
    sessions: str
    """Returns the numbers of all connections to the service's database."""
    in_transaction: str
    """Returns the numbers of those from {addresses} that are inside a transaction."""
    end: str
    """Ends connection {number}."""
    limit: str
    """Lets {number} connections in."""
    limited: str
    """Returns the number that is let in."""
    refused: Callable[[Any, str], int]
    """Return how many were refused, since there were too many, by a cursor and the server's log."""
    tables: str
    """Returns the folder of the service's tables, below the server's data."""


def _connect_to_mysql(url: SplitResult) -> Any:
    return MySQLdb.connect(host=url.hostname, port=url.port, user=url.username, db="feed")


def _refused_by_mysql(cursor: Any, log: str) -> int:
    cursor.execute("SHOW GLOBAL STATUS LIKE 'Connection_errors_max_connections'")
    ((_, count),) = cursor.fetchall()
    return int(count)


MYSQL = Engine(
    connect=_connect_to_mysql,
    own="SELECT connection_id()",
    sessions="SELECT id FROM information_schema.processlist WHERE db = 'feed'",
    in_transaction="""
        SELECT id FROM information_schema.innodb_trx
          JOIN information_schema.processlist ON id = trx_mysql_thread_id
         WHERE host IN ({addresses})
    """,
    end="KILL {number}",
    limit="SET GLOBAL max_connections = {number}",
    limited="SELECT @@global.max_connections",
    refused=_refused_by_mysql,
    tables="SELECT 'feed'",
)
POSTGRESQL = Engine(
    connect=lambda url: psycopg.connect(url.geturl(), autocommit=True),
    own="SELECT pg_backend_pid()",
    sessions="SELECT pid FROM pg_stat_activity WHERE datname = 'feed' AND client_port > 0",
    in_transaction="""
        SELECT pid FROM pg_stat_activity
         WHERE xact_start IS NOT NULL AND host(client_addr) || ':' || client_port IN ({addresses})
    """,
    end="SELECT pg_terminate_backend({number})",
    limit="ALTER DATABASE feed CONNECTION LIMIT {number}",
    limited="SELECT datconnlimit FROM pg_database WHERE datname = 'feed'",
    refused=lambda cursor, log: log.count("FATAL:  too many connections for database"),
    tables="SELECT 'base/' || oid FROM pg_database WHERE datname = 'feed'",
)
ENGINES = {"mysql": MYSQL, "postgresql": POSTGRESQL}
