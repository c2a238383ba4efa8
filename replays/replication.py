"""Watch how far a replica lags: python -m replays.replication FILE PRIMARY_PORT REPLICA_PORT.

It asks the primary for its position and waits until the replica has got there, again and again.
Every row that it appends to the file says that what was committed at ``asked_at`` is on the replica
since ``reached_at`` (Unix time).
"""

import csv
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import MySQLdb

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


def watch(path: Path, primary: str, replica: str) -> None:
    leader, follower = _connect(primary), _connect(replica)
    with path.open("a", newline="", buffering=1) as file:  # whole rows: others append too
        rows = csv.writer(file)
        while True:
            asked_at = time.time()
            position = _value(leader, "SELECT @@gtid_binlog_pos")
            if _value(follower, "SELECT MASTER_GTID_WAIT(%s, %s)", position, GIVE_UP_S) == 0:
                rows.writerow(Sight(replica, asked_at, time.time()))
            time.sleep(AGAIN_AFTER_S)


def _value(connection: Any, sql: str, *parameters: object) -> Any:
    cursor = connection.cursor()
    cursor.execute(sql, parameters)
    return cursor.fetchone()[0]


def _connect(port: str) -> Any:
    return MySQLdb.connect(host="127.0.0.1", port=int(port), user="root", autocommit=True)


if __name__ == "__main__":
    watch(Path(sys.argv[1]), *sys.argv[2:])
