"""A database whose clock is put back or forward."""

from contextlib import closing
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.connections import asked, end_others
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for
from launch.processes import RunFailed
from launch.variants import Variant

STEP_MIN = 30
FURTHEST_MIN = 12 * 60 + 59
"""The largest offset that MariaDB has for a time zone: 25 moments."""


class SteppedBack(Fault):
    name = "clock-back"
    text = f"The database's clock is put back by {STEP_MIN} minutes, as all its clients see it."
    safeguard = "claims by state"
    at_stake = "posts in flight"
    needs_mysql: ClassVar[bool] = True
    step_min: ClassVar[int] = -STEP_MIN

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and variant.database.replicas == 0

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(running.connect()) as own:
            cursor = own.cursor()
            offset = int(asked(cursor, "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW())"))
            zone = time_zone(offset + self.step_min)
            in_flight = wait_for(lambda: int(asked(cursor, PENDING)))
            cursor.execute(f"SET GLOBAL time_zone = '{zone}'")
            end_others(own, ())
            return in_flight


class SteppedForward(SteppedBack):
    name = "clock-forward"
    text = f"The database's clock is put forward by {STEP_MIN} minutes, as all its clients see it."
    safeguard = ""
    no_control = (
        "the older a post looks, the sooner it is due, so that no safeguard is left to take out"
    )
    step_min = STEP_MIN


def time_zone(offset_min: int) -> str:
    """Return the name of a time zone. Raises RunFailed for one that no database has."""
    if abs(offset_min) > FURTHEST_MIN:
        raise RunFailed(f"the database's clock can be put no further: {offset_min} minutes")
    sign, (hours, minutes) = "-" if offset_min < 0 else "+", divmod(abs(offset_min), 60)
    return f"{sign}{hours:02}:{minutes:02}"
