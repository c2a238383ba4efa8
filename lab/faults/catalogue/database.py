"""A database that dies, stops answering, or is older than it was."""

import random
import shutil
import subprocess
import time
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.redis_server import FROZEN_S, freeze
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, frozen, wait_for
from launch.servers.mysql import MySQL

TRUSTED_S = 2.5
"""Seconds after a restore of the database for which a process may use what it knew, and
the drainer hasn't looked yet: docs/decisions/0041 says so."""


class Killed(Fault):
    name = "database-killed"
    text = "The database is killed, and starts again with its files."
    safeguard = "receipts"
    at_stake = "posts in flight"
    needs_mysql: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            in_flight = wait_for(lambda: running.query(PENDING))
            running.restart("database")
            return in_flight


class OlderCopy(Fault):
    name = "database-older-copy"
    text = "The database is killed, and starts again with a copy of one or two seconds before."
    safeguard = "epochs"
    at_stake = "posts that the copy lacks"
    needs_mysql: ClassVar[bool] = True
    needs_redis: ClassVar[bool] = True
    needs_drainer: ClassVar[bool] = True
    program = "cp"

    def inject(self, running: Running, readers: Readers) -> int:
        server = running.server("database")
        assert isinstance(server, MySQL)
        copy = server.folder / "copy"
        with readers.held_up(), frozen(running.processes.pids("database")):
            subprocess.run(["cp", "-a", "--sparse=always", server.data, copy], check=True)
        time.sleep(random.uniform(1, 2))  # noqa: S311
        with readers.blind(TRUSTED_S):
            running.kill("database")
            with running.without_clients():
                shutil.rmtree(server.data)
                copy.rename(server.data)
                server.start()
                kept = {post_id for (post_id,) in running.rows("SELECT id FROM feed_post")}
                gone = [post for _, post in running.accepted if post["id"] not in kept]
                running.accepted = [it for it in running.accepted if it[1]["id"] in kept]
                readers.gone |= {(post["id"], post["created_at"]) for post in gone}
        time.sleep(TRUSTED_S)
        return len(gone)


class Frozen(Fault):
    name = "database-frozen"
    text = f"The database is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP)."
    safeguard = "refusals"
    at_stake = "requests answered meanwhile"
    needs_mysql: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        return freeze(running, readers, "database")
