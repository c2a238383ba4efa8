"""Upper bounds: how fast each server is with its fastest client."""

import csv
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import MySQLdb

from lab.bench.record import Record, row
from lab.bench.site import Site
from lab.progress import Advance
from launch.processes import RunFailed
from launch.servers.base import find_binary
from launch.servers.redis import Redis

COMMANDS = {
    "redis ping": ("-t", "ping_mbulk"),
    "redis set": ("-r", "100000", "set", "key:__rand_int__", "8 bytes."),
    "redis append": ("-r", "100000", "append", "key:__rand_int__", "8 bytes."),
}
COUNT = 1_000_000
OWNERS, POSTS = 500, 1_000


def bench_redis(site: Site, record: Record, advance: Advance) -> None:
    """Record a pipelined no-op and pipelined raw writes of 8 bytes to random keys."""
    binary = find_binary("redis-benchmark", "valkey-benchmark")
    if binary is None:
        raise RunFailed("redis-benchmark is not installed: apt-get install redis-tools")
    for name, command in COMMANDS.items():
        advance(name)
        with site.redis() as redis:
            assert isinstance(redis, Redis)
            argv = [binary, "-p", str(redis.port), "--csv", "-P", "100", "-c", "8"]
            lines = site.processes.lines("redis-benchmark", [*argv, "-n", str(COUNT), *command], {})
            *_, last = csv.reader(lines)
            figures = {"deliveries": COUNT, "wall_s": COUNT / float(last[1]), "client_s": None}
            record.add_row(row("floor", name, figures, site.processes.ran_s()[redis.role]))


def bench_mysql(site: Site, record: Record, advance: Advance) -> None:
    """Record a bulk load into a copy of the table of ``setbased``, in its order.

    Raises RunFailed if the server refuses it.
    """
    assert site.mysql is not None
    advance("load data")
    file = site.folder / "rows.csv"
    file.write_text("".join(f"{owner},{post}\n" for owner, post in _rows()))
    sql = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE bench_load FIELDS TERMINATED BY ','"
    login = {"host": "127.0.0.1", "port": site.mysql.port, "user": "root", "database": "feed"}
    try:
        with closing(MySQLdb.connect(**login, local_infile=True)) as connection:
            cursor = connection.cursor()
            cursor.execute("SET GLOBAL local_infile = ON")  # MySQL's default is OFF
            cursor.execute("CREATE TABLE bench_load LIKE feed_timeline_setbased")
            before_s = site.processes.ran_s()["database"]
            figures = _timed(lambda: cursor.execute(sql), connection.commit)
            server_s = site.processes.ran_s()["database"] - before_s
            cursor.execute("DROP TABLE bench_load")
    except MySQLdb.Error as error:
        raise RunFailed(f"load data: {error}") from error
    record.add_row(row("floor", "load data", figures, server_s, database="mysql_tuned"))


def bench_sqlite(site: Site, record: Record, advance: Advance) -> None:
    """Record sorted rows in one transaction, into a table like that of ``setbased``."""
    advance("executemany")
    with closing(sqlite3.connect(site.folder / "load.sqlite3")) as connection:
        connection.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            "CREATE TABLE load (owner_id bigint NOT NULL, post_id bigint NOT NULL,"
            " PRIMARY KEY (owner_id, post_id)) WITHOUT ROWID"
        )
        sql, rows = "INSERT INTO load VALUES (?, ?)", _rows()
        figures = _timed(lambda: connection.executemany(sql, rows), connection.commit)
    record.add_row(row("floor", "executemany", figures, None, database="sqlite"))


def _rows() -> list[tuple[int, int]]:
    return [(owner, post) for owner in range(OWNERS) for post in range(POSTS)]


def _timed(write: Callable[[], object], commit: Callable[[], object]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    write()
    commit()
    wall_s, client_s = time.perf_counter() - wall, time.process_time() - cpu
    return {"deliveries": OWNERS * POSTS, "wall_s": wall_s, "client_s": client_s}
