"""A database whose clock is put forward."""

from contextlib import closing
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.connections import asked, end_others
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for
from launch.variants import Variant

STEP_MINUTES = 30
FURTHEST_MINUTES = 13 * 60
"""The largest offset of a time zone that the database knows: so far from the usual time."""


class SteppedForward(Fault):
    name = "clock-forward"
    text = f"The database's clock is put forward by {STEP_MINUTES} minutes, as its clients see it."
    no_control = (
        "the older a post looks, the sooner it is due, so that no safeguard is left to take out"
    )
    at_stake = "posts in flight"
    needs_mysql: ClassVar[bool] = True

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and variant.database.replicas == 0

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(running.connect()) as own:
            cursor = own.cursor()
            now = asked(cursor, "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), NOW())")
            offset = min(int(now) + STEP_MINUTES, FURTHEST_MINUTES)
            in_flight = wait_for(lambda: int(asked(cursor, PENDING)))
            sign, (hours, minutes) = "-" if offset < 0 else "+", divmod(abs(offset), 60)
            cursor.execute(f"SET GLOBAL time_zone = '{sign}{hours:02}:{minutes:02}'")
            end_others(own, ())
            return in_flight
