"""A database that takes no writes: it is read-only, or its disk is full."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import MySQLdb

from lab.faults.base import Fault
from lab.faults.catalogue.connections import asked, end_others
from lab.faults.readers import Readers
from lab.faults.running import Running
from launch.servers.launchers import installed
from launch.servers.mysql import MySQL
from launch.variants import Variant

REFUSED_S = 2.0
ADMIN = "lab@127.0.0.1"
EXEMPT = "READ_ONLY ADMIN"
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


class MariaDBFault(Fault):
    safeguard = "answers"
    at_stake = "refused requests"
    needs_mysql: ClassVar[bool] = True

    def unavailable(self) -> str | None:
        binary = installed(MySQL)
        if binary and not binary.endswith("mariadbd"):
            return "it is made for MariaDB"
        return super().unavailable()

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and variant.database.replicas == 0


class ReadOnly(MariaDBFault):
    name = "database-read-only"
    text = f"For {REFUSED_S:g} s, the database is read-only, also for the service's user."

    def during(self, running: Running) -> AbstractContextManager[object]:
        return not_exempt(running)

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(admin(running)) as connection:
            cursor, before = connection.cursor(), len(running.refused)
            cursor.execute("SET GLOBAL read_only = 1")
            try:
                time.sleep(REFUSED_S)
            finally:
                cursor.execute("SET GLOBAL read_only = 0")
            return len(running.refused) - before


class DiskFull(MariaDBFault):
    name = "database-disk-full"
    text = (
        f"For {REFUSED_S:g} s, the file system of the database's tables is full; where MariaDB "
        "ends itself for that, it is started again when there is room."
    )

    def unavailable(self) -> str | None:
        return super().unavailable() or root_only()

    def during(self, running: Running) -> AbstractContextManager[object]:
        return on_small_disk(running)

    def inject(self, running: Running, readers: Readers) -> int:
        folder = tables_of(running)
        filler = folder / "filler"
        with readers.held_up(), closing(running.connect()) as connection:
            before = len(running.refused)
            try:
                fill(filler)
                use_up(connection)
                time.sleep(REFUSED_S)
                filler.unlink()
                connection.rollback()
            except MySQLdb.OperationalError as error:
                if error.args[0] not in ENDED:
                    raise
                filler.unlink(missing_ok=True)
                running.processes.stop("database")
                database_of(running).start()
            return len(running.refused) - before


def root_only() -> str | None:
    return None if Path("/proc/self").owner() == "root" else "only root can mount"


@contextmanager
def not_exempt(running: Running) -> Iterator[None]:
    """Take from the service's user, and its connections, what exempts it from read-only."""
    with closing(running.connect()) as connection:
        cursor = connection.cursor()
        user = asked(cursor, "SELECT CURRENT_USER()")
        cursor.execute(f"CREATE OR REPLACE USER {ADMIN}")
        cursor.execute(f"GRANT ALL ON *.* TO {ADMIN} WITH GRANT OPTION")
        cursor.execute(f"REVOKE {EXEMPT} ON *.* FROM {user}")
        end_others(connection, ())
    try:
        yield
    finally:
        with closing(admin(running)) as connection:
            connection.cursor().execute(f"GRANT ALL ON *.* TO {user} WITH GRANT OPTION")


def admin(running: Running) -> Any:
    """Return a connection whose user may write to a database that is read-only."""
    name, _, host = ADMIN.partition("@")
    return MySQLdb.connect(host=host, port=database_of(running).port, user=name, db="feed")


def database_of(running: Running) -> MySQL:
    server = running.server("database")
    assert isinstance(server, MySQL)
    return server


def tables_of(running: Running) -> Path:
    return database_of(running).data / "feed"


@contextmanager
def on_small_disk(running: Running) -> Iterator[None]:
    """Keep the tables, not the logs, on a file system of their own that is only a little larger."""
    folder, role = tables_of(running), "database"
    copy = folder.with_name("feed-copy")
    running.processes.stop(role)
    folder.rename(copy)
    folder.mkdir()
    size = sum(it.stat().st_size for it in copy.iterdir()) + SPARE_BYTES
    mount(folder, size)
    running.processes.at_exit(lambda: unmount(folder))
    move(copy, folder)
    database_of(running).start()
    try:
        yield
    finally:
        running.processes.stop(role)
        move(folder, copy)
        unmount(folder)
        folder.rmdir()
        copy.rename(folder)
        database_of(running).start()


def move(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for file in source.iterdir():
        shutil.move(file, target / file.name)


def mount(folder: Path, size: int) -> None:
    options = f"size={size},mode=0700"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def unmount(folder: Path) -> None:
    if folder.is_mount():
        subprocess.run(["umount", folder], check=True)


def fill(filler: Path) -> None:
    """Leave no room on a file system."""
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(2**20))
        except OSError:
            return


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
