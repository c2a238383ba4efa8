"""The database dies, stops answering, is full, older, or has another clock."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import MySQLdb

from lab.faults.databases import ERRORS, MYSQL
from lab.faults.fault import (
    fault,
    in_one_redis,
    keeps_commits,
    on_mysql,
    on_server,
    with_drainer,
    without_queue,
)
from lab.faults.readers import PENDING, Readers
from lab.faults.redis import FROZEN_S, freeze
from lab.faults.running import Running, wait_for
from launch.processes import RunFailed, frozen
from launch.servers.base import DatabaseServer, installed
from launch.servers.mysql import MySQL

NOTICED_WITHIN_S = 10.0
"""Until then the drainer has found a restore of the database; a busy machine takes seconds."""
TRUSTED_S = 1.5
"""For so long a process may use what it knew before (docs/decisions/0041)."""
EPOCH = "SELECT number FROM feed_epoch"
STEP_MIN = 30
TAKEN_S = 2.0
REFUSED_S = 2.0
MOST_CONNECTIONS = 10
"""The fewest connections that MariaDB can be limited to; a superuser may have one more."""
SPARE_BYTES = 24 * 2**20
FULL = 1114
"""MariaDB's number for "the table is full"."""
JUNK = """
    INSERT INTO feed_post (author_id, body, like_count, delivered_at)
    VALUES (1, REPEAT('x', %s), 0, NOW())
"""
SIZES = (2000, 10)
"""Characters of a row. A row per statement: to undo it on a full disk takes room too."""
ENDED = (2006, 2013)
"""The client's numbers for "the server is gone". MariaDB 10.11 ends itself when it has no room to
undo a statement ("Out of disk space in rollback"), and a supervisor starts it again."""


@fault(
    "The database is killed, and starts again with its files.",
    at_stake="posts in flight",
    needs=(keeps_commits,),
    safeguard="receipts",
    control_needs=(without_queue,),
)
def database_killed(running: Running, readers: Readers) -> int:
    in_flight = wait_for(lambda: running.query(PENDING))
    running.restart("database")
    return in_flight


@fault(
    f"The database is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP).",
    at_stake="requests meanwhile",
    needs=(on_server,),
    safeguard="refusals",
)
def database_frozen(running: Running, readers: Readers) -> int:
    return freeze(running, "database")


@fault(
    "The database is killed, and starts again with a copy of one or two seconds before.",
    at_stake="posts that the copy lacks",
    needs=(on_server, in_one_redis, with_drainer),
    safeguard="epochs",
)
def database_older_copy(running: Running, readers: Readers) -> int:
    server = server_of(running)
    copy = server.folder / "copy"
    with frozen(running.processes.pids("database")):
        subprocess.run(["cp", "-a", "--sparse=always", server.data, copy], check=True)
    time.sleep(random.uniform(1, 2))  # noqa: S311
    with readers.blind(TRUSTED_S):
        running.processes.kill("database")
        with running.without_clients():
            shutil.rmtree(server.data)
            copy.rename(server.data)
            server.start()
            copied = running.query(EPOCH)
            kept = {post_id for (post_id,) in running.rows("SELECT id FROM feed_post")}
            gone = [post for _, post in running.accepted if post["id"] not in kept]
            running.accepted = [(at, post) for at, post in running.accepted if post["id"] in kept]
            readers.gone |= {(post["id"], post["created_at"]) for post in gone}
        with suppress(RunFailed):  # a control never notices
            wait_for(lambda: running.query(EPOCH) != copied, NOTICED_WITHIN_S)
    time.sleep(TRUSTED_S)
    return len(gone)


@fault(
    f"The database's clock is put back by {STEP_MIN} minutes, and forward again the next time, "
    "as all its clients see it.",
    at_stake="posts in flight",
    needs=(on_mysql,),
    safeguard="claims by state",
)
def clock_moved(running: Running, readers: Readers) -> int:
    with closing(running.connect()) as own:
        cursor = own.cursor()
        offset = int(value_of(cursor, "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW())"))
        zone = "+00:00" if offset else f"-00:{STEP_MIN}"
        in_flight = wait_for(lambda: int(value_of(cursor, PENDING)))
        cursor.execute(f"SET GLOBAL time_zone = '{zone}'")
        end_others(running, own, ())
        return in_flight


@fault(
    f"The service's connections to the database end, and for {TAKEN_S:g} s strangers hold all "
    "that it allows.",
    at_stake="refused connections",
    needs=(on_server,),
    safeguard="answers",
)
def connections_taken(running: Running, readers: Readers) -> int:
    with closing(running.connect()) as own, ExitStack() as opened:
        cursor, engine = own.cursor(), running.engine
        most = value_of(cursor, engine.limited)
        before = refused_connections(running, cursor)
        strangers = [running.connect() for _ in range(MOST_CONNECTIONS)]
        for stranger in strangers:
            opened.enter_context(closing(stranger))
        cursor.execute(engine.limit.format(number=MOST_CONNECTIONS))
        opened.callback(cursor.execute, engine.limit.format(number=most))
        end_others(running, own, strangers)
        time.sleep(TAKEN_S)
        return refused_connections(running, cursor) - before


def not_mariadb_or_not_root() -> str | None:
    binary = installed(MySQL)
    if binary and not binary.endswith("mariadbd"):
        return "it is made for MariaDB"
    return None if os.geteuid() == 0 else "only root can mount"


@contextmanager
def on_small_disk(running: Running) -> Iterator[None]:
    """Keep the tables, not the logs, on a file system of their own that is only a little larger."""
    server = server_of(running)
    folder = tables_of(running)
    copy = folder.with_name(f"{folder.name}-copy")
    running.processes.stop(server.role)
    folder.rename(copy)
    folder.mkdir()
    size = sum(file.stat().st_size for file in copy.iterdir()) + SPARE_BYTES
    options = f"size={size},mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
    running.processes.at_exit(partial(subprocess.run, ["umount", folder], check=True))
    for file in copy.iterdir():
        shutil.move(file, folder / file.name)
    server.start()
    yield


@fault(
    f"For {REFUSED_S:g} s, the file system of the database's tables is full; where MariaDB ends "
    "itself for that, it is started again when there is room.",
    at_stake="refused requests, and posts that wait",
    needs=(on_server,),
    safeguard="answers",
    unavailable=not_mariadb_or_not_root,
    around=on_small_disk,
)
def database_disk_full(running: Running, readers: Readers) -> int:
    server = server_of(running)
    filler = tables_of(running) / "filler"
    with closing(running.connect()) as connection:
        before, waiting = len(running.refused), 0
        try:
            fill(filler)
            if running.engine is MYSQL:  # which adds more than a page at a time to a file
                use_up(connection)
            time.sleep(REFUSED_S)
            cursor = connection.cursor()  # a new connection may find no room
            cursor.execute(PENDING)
            ((waiting,),) = cursor.fetchall()
            filler.unlink()
            connection.rollback()
        except MySQLdb.OperationalError as error:
            if error.args[0] not in ENDED:
                raise
            filler.unlink(missing_ok=True)
            running.processes.stop(server.role)
            server.start()
        return len(running.refused) - before + waiting


def fill(filler: Path) -> None:
    """Leave no room on a file system."""
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(2**20))


def use_up(connection: Any) -> None:
    """Take the room that the table of the posts still has in its file, in an open transaction."""
    cursor = connection.cursor()
    for size in SIZES:
        try:
            while True:
                cursor.execute(JUNK, [size])
        except MySQLdb.OperationalError as error:
            if error.args[0] != FULL:
                raise


def server_of(running: Running) -> DatabaseServer:
    server = running.server("database")
    assert isinstance(server, DatabaseServer)
    return server


def tables_of(running: Running) -> Path:
    """Return the folder of the service's tables."""
    ((folder,),) = running.rows(running.engine.tables)
    return Path(server_of(running).data, folder)


def end_others(running: Running, own: Any, strangers: Sequence[Any]) -> None:
    """End all connections to the service's database but one's own and those of strangers."""
    engine, cursor = running.engine, own.cursor()
    kept = {value_of(connection.cursor(), engine.own) for connection in (own, *strangers)}
    cursor.execute(engine.sessions)
    for (number,) in cursor.fetchall():
        if number not in kept:
            with suppress(*ERRORS):  # it may have ended by itself
                cursor.execute(engine.end.format(number=number))


def refused_connections(running: Running, cursor: Any) -> int:
    """Return how many connections were refused, since there were too many."""
    log = running.processes.logs / "database.log"
    return running.engine.refused(cursor, log.read_text(errors="replace"))


def value_of(cursor: Any, sql: str) -> Any:
    """Return the one value of a query, as it is now."""
    cursor.execute(sql)
    ((value,),) = cursor.fetchall()
    cursor.connection.commit()
    return value
