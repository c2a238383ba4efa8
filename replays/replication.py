"""Watch a replica's lag: python -m replays.replication FILE ENGINE PRIMARY_PORT REPLICA_PORT.

It asks the primary for its position and waits until the replica has got there, again and again.
Every row that it appends to the file says that what was committed at ``asked_at`` is on the replica
since ``reached_at`` (Unix time).
"""

import csv
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import MySQLdb
import psycopg

from launch.processes import HERE
from replays.positions import POSITIONS

AGAIN_AFTER_S = 0.05
GIVE_UP_S = 60


class Sight(NamedTuple):
    replica: str
    asked_at: float
    reached_at: float

    @property
    def lag_ms(self) -> float:
        return (self.reached_at - self.asked_at) * 1000


def read_sights(path: Path) -> list[Sight]:
    with path.open(newline="") as file:
        return [Sight(row[0], float(row[1]), float(row[2])) for row in csv.reader(file)]


def everywhere_at(sights: Sequence[Sight], committed_at: float) -> float:
    """Return when each replica was known to have what was committed then."""
    first: dict[str, float] = dict.fromkeys({sight.replica for sight in sights}, float("inf"))
    for sight in sights:
        if sight.asked_at >= committed_at:
            first[sight.replica] = min(first[sight.replica], sight.reached_at)
    return max(first.values(), default=committed_at)


def watch(path: Path, engine: str, primary: str, replica: str) -> None:
    positions, connect = POSITIONS[engine], CONNECT[engine]
    leader, follower = connect(int(primary)).cursor(), connect(int(replica)).cursor()
    with path.open("a", newline="", buffering=1) as file:  # whole rows: others append too
        rows = csv.writer(file)
        while True:
            asked_at = time.time()
            if positions.await_on(follower, positions.of_primary(leader), GIVE_UP_S):
                rows.writerow(Sight(replica, asked_at, time.time()))
            time.sleep(AGAIN_AFTER_S)


CONNECT: dict[str, Callable[[int], Any]] = {
    "mysql": lambda port: MySQLdb.connect(host=HERE, port=port, user="root", autocommit=True),
    "postgresql": lambda port: psycopg.connect(
        host=HERE, port=port, user="feed", dbname="feed", autocommit=True
    ),
}


if __name__ == "__main__":
    watch(Path(sys.argv[1]), *sys.argv[2:])
