"""Positions in the log of a primary, and what its replicas have of it, in each engine's words."""

import re
import time
from dataclasses import dataclass
from typing import Any

ASK_AGAIN_AFTER_S = 0.002


@dataclass(frozen=True)
class Positions:
    form: re.Pattern[str]
    """What a position looks like: one that a client sends back may look otherwise."""
    newest: str
    """Returns the primary's, which includes everything committed so far."""
    has: str
    """Tells whether a replica has %(position)s; it may wait for that, %(within_s)s at most."""

    def of_primary(self, cursor: Any) -> str:
        cursor.execute(self.newest)
        return str(cursor.fetchone()[0])

    def await_on(self, replica: Any, position: str, within_s: float) -> bool:
        """Return whether a replica, of which this is a cursor, got there in time."""
        give_up_at = time.monotonic() + within_s
        while (left_s := give_up_at - time.monotonic()) > 0:
            replica.execute(self.has, {"position": position, "within_s": left_s})
            if replica.fetchone()[0]:
                return True
            time.sleep(ASK_AGAIN_AFTER_S)
        return False


MARIADB = Positions(
    form=re.compile(r"\d+-\d+-\d+(,\d+-\d+-\d+)*", re.ASCII),
    newest="SELECT @@gtid_binlog_pos",
    has="SELECT MASTER_GTID_WAIT(%(position)s, %(within_s)s) = 0",
)
POSTGRESQL = Positions(
    form=re.compile(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}"),
    # Where the next record goes may be behind the header of a page, 24 bytes; a commit is longer.
    newest="SELECT pg_current_wal_insert_lsn() - 24",
    has="SELECT pg_last_wal_replay_lsn() >= %(position)s::pg_lsn",
)
POSITIONS = {"mysql": MARIADB, "postgresql": POSTGRESQL}
"""By the name of the engine; MySQL itself has others."""
