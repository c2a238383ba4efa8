"""Two people who can't decide."""

import time
from contextlib import closing
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running

LASTS_S = 2.0
PAIR = (1, 2)


class Changing(Fault):
    name = "friendships"
    text = (
        "Two people end and begin a friendship as fast as they are answered, and one of them "
        "reads each time."
    )
    safeguard = "seals"
    at_stake = "changes"
    refuses: ClassVar[bool] = False

    def inject(self, running: Running, readers: Readers) -> int:
        one, other = PAIR
        changes, until = 0, time.monotonic() + LASTS_S
        with closing(readers.connection()) as http:
            while changes <= 10 or time.monotonic() < until:
                readers.unfriend(http, one, other)
                readers.read(http, one)
                readers.befriend(http, one, other)
                readers.read(http, one)
                changes += 2
        return changes
