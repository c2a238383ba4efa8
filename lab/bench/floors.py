"""Upper bounds: how fast each server is with its fastest client."""

import csv
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import MySQLdb

from lab.bench.record import Record, not_measured, row
from lab.bench.site import Site
from lab.progress import Advance
from launch.processes import RunFailed
from launch.servers.base import find_binary

COMMANDS = {
    "redis ping": ("-n", "1000000", "-t", "ping_mbulk"),
    "redis set": ("-n", "1000000", "-r", "100000", "set", "key:__rand_int__", "8 bytes."),
    "redis append": ("-n", "1000000", "-r", "100000", "append", "key:__rand_int__", "8 bytes."),
}
PIPELINED = ("-P", "100", "-c", "8")
OWNERS, POSTS = 500, 1_000


def bench_redis(site: Site, record: Record, advance: Advance) -> None:
    """Record a pipelined no-op and pipelined raw writes of 8 bytes to random keys."""
    binary = find_binary("redis-benchmark", "valkey-benchmark")
    if binary is None:
        raise RunFailed("redis-benchmark is not installed: apt-get install redis-tools")
    for name, arguments in COMMANDS.items():
        advance(name)
        with site.redis() as redis:
            argv = [binary, "-p", str(redis.port), "--csv", *PIPELINED, *arguments]
            cpu_s = _children_s()
            *_, last = csv.reader(site.processes.lines("redis-benchmark", argv, {}))
            figures = _figures(int(arguments[1]), float(last[1]), _children_s() - cpu_s)
            record.add_row(row("floor", name, figures, site.processes.ran_s()[redis.role]))


def bench_mysql(site: Site, record: Record, advance: Advance) -> None:
    """Record a bulk load into a copy of the table of ``setbased``, in its order.

    Raises RunFailed if the server refuses it; then the row says why.
    """
    advance("load data")
    try:
        figures, server_s = _load_data(site)
    except MySQLdb.Error as error:
        record.add_row(not_measured("floor", "load data", str(error), database="mysql_tuned"))
        raise RunFailed(f"load data: {error}") from error
    record.add_row(row("floor", "load data", figures, server_s, database="mysql_tuned"))


def _load_data(site: Site) -> tuple[dict[str, Any], float]:
    assert site.mysql is not None
    file = site.folder / "rows.csv"
    file.write_text("".join(f"{owner},{post}\n" for owner, post in _rows()))
    login = {"host": "127.0.0.1", "port": site.mysql.port, "user": "root", "database": "feed"}
    with closing(MySQLdb.connect(**login, local_infile=True)) as connection:
        cursor = connection.cursor()
        cursor.execute("SET GLOBAL local_infile = ON")  # MySQL's default is OFF
        cursor.execute("CREATE TABLE bench_load LIKE feed_timeline_setbased")
        before = site.processes.ran_s()["database"]
        figures = _timed(lambda: _load(connection, file))
        server_s = site.processes.ran_s()["database"] - before
        cursor.execute("DROP TABLE bench_load")
    return figures, server_s


def bench_sqlite(site: Site, record: Record, advance: Advance) -> None:
    """Record sorted rows in one transaction, into a table like that of ``setbased``."""
    advance("executemany")
    with closing(sqlite3.connect(site.folder / "load.sqlite3")) as connection:
        connection.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            "CREATE TABLE load (owner_id bigint NOT NULL, post_id bigint NOT NULL,"
            " PRIMARY KEY (owner_id, post_id)) WITHOUT ROWID"
        )
        rows = list(_rows())
        figures = _timed(lambda: _executemany(connection, rows))
    record.add_row(row("floor", "executemany", figures, None, database="sqlite"))


def _load(connection: Any, file: Path) -> None:
    sql = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE bench_load FIELDS TERMINATED BY ','"
    connection.cursor().execute(sql)
    connection.commit()


def _executemany(connection: sqlite3.Connection, rows: list[tuple[int, int]]) -> None:
    connection.executemany("INSERT INTO load VALUES (?, ?)", rows)
    connection.commit()


def _rows() -> Iterator[tuple[int, int]]:
    return ((owner, post) for owner in range(OWNERS) for post in range(POSTS))


def _timed(work: Callable[[], None]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall_s, client_s = time.perf_counter() - wall, time.process_time() - cpu
    return {"deliveries": OWNERS * POSTS, "wall_s": wall_s, "client_s": client_s}


def _figures(count: int, per_s: float, client_s: float) -> dict[str, Any]:
    return {"deliveries": count, "wall_s": count / per_s, "client_s": client_s}


def _children_s() -> float:
    """Return the CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
