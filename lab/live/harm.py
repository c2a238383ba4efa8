"""The faults of the page's buttons: those of ``lab run faults``, under the page's own load."""

from lab.faults.catalogue import FAULTS
from lab.faults.fault import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running
from lab.live.side import RUNNING, Side
from launch.processes import RunFailed
from launch.service import Service

BUTTONS = {
    "drainer-killed": "Kill the drainer",
    "celery-worker-killed": "Kill the Celery worker",
    "redis-emptied": "Empty Redis",
    "redis-killed": "Kill Redis",
    "database-frozen": "Freeze the database",
    "drainer-cut-off": "Cut the drainer's link",
    "primary-cut-off": "Cut a primary's link",
    "friendships": "Unfriend and befriend",
}


class Watched(Running):
    """A service without clients of the laboratory's own; ends a fault when its side is stopped."""

    def __init__(self, side: Side, service: Service) -> None:
        super().__init__(service)
        self._side = side

    def workers_of(self, role: str) -> list[int]:
        self._go_on()
        return super().workers_of(role)

    def query(self, sql: str) -> int:
        self._go_on()
        return super().query(sql)

    def _go_on(self) -> None:
        if self._side.is_stopping:
            raise RunFailed("the side was stopped")


def suits(name: str, side: Side) -> bool:
    """Return whether the side's variant has what the fault breaks; True if it has none yet."""
    variant = side.variant
    return variant is None or (variant.database.files == 1 and FAULTS[name].suits(variant))


def why_not(name: str, side: Side) -> str | None:
    """Return why a fault can't happen to a side now; None if it can."""
    if side.state != RUNNING or side.variant is None:
        return "nothing runs"
    if side.fault:
        return f"{side.fault} is happening"
    if not suits(name, side):
        return f"{side.variant.name} has no such part"
    if side.servers == "external":
        return "the servers are not the laboratory's own"
    return FAULTS[name].unavailable()


def inject(name: str, side: Side) -> None:
    """Let a fault happen to a side, in a thread. Raises ValueError if it can't."""
    if reason := why_not(name, side):
        raise ValueError(f"{BUTTONS[name]}: {reason}.")
    fault = FAULTS[name]
    side.do(name, lambda service: _happen(fault, Watched(side, service)))


def _happen(fault: Fault, running: Running) -> str:
    readers = Readers(running)  # without their threads: the load's own look-ups read
    with fault.around(running):
        at_stake = fault.inject(running, readers)
    wrong = f", {len(readers.wrong)} wrong pages" if readers.wrong else ""
    return f"{fault.text} At stake: {at_stake:,} {fault.at_stake}{wrong}. The fault is over."
