"""The two verdicts on runs, apart: what became of deliveries, and what figures are worth."""

from enum import StrEnum

from lab.results import laws
from lab.results.result import Result
from launch.variants import Variant

FAILED, UNSOUND = 1, 3
"""Exit statuses (docs/laboratory.md)."""
HARM = (0, UNSOUND, FAILED, 130).index  # a sort key


class Deliveries(StrEnum):
    """The best first."""

    CLEAN = "clean"
    EXPECTED = "not clean, as expected"
    LOST = "lost or wrong"
    NOT_COMPARED = "not compared"


class Figures(StrEnum):
    """The best first."""

    SOUND = "sound"
    SHARED = "not judged (--shared)"
    SHORT = "window too short"
    INCONSISTENT = "inconsistent"
    BUSY = "machine busy"
    NONE = "not measured"

    @property
    def can_be_compared(self) -> bool:
        """Whether differences count; lower bounds are marked one by one."""
        return self in (Figures.SOUND, Figures.SHARED, Figures.SHORT)


GOOD = (Deliveries.CLEAN, Deliveries.EXPECTED, Figures.SOUND, Figures.SHARED)
WHAT_TO_DO: dict[StrEnum, str] = {
    Deliveries.LOST: ": the column audit says how much. No other figure there means anything",
    Deliveries.NOT_COMPARED: ": it did not finish, or accepted nothing. Read its errors",
    Figures.SHARED: ": other programs used the machine too. Rely on the deliveries alone",
    Figures.SHORT: ": latencies with ≥ are lower bounds. Measure for longer (--run-time)",
    Figures.INCONSISTENT: ": they break a law of every measurement. Run it again",
    Figures.BUSY: ": other programs used it. End them, or add --shared to judge deliveries alone",
}


def deliveries_of(variant: Variant, result: Result) -> Deliveries:
    if result.audit is None or result.audit.get("expected") == 0:
        return Deliveries.NOT_COMPARED
    if not variant.expects(result.audit):
        return Deliveries.LOST
    return Deliveries.CLEAN if result.audit["ok"] else Deliveries.EXPECTED


def figures_of(result: Result) -> Figures:
    """Judge a run; "void" among its own figures: the load generator did not send what it should."""
    if result.audit is None:
        return Figures.NONE
    if any(laws.utilisation(result)):
        return Figures.BUSY
    if any(laws.broken(result)) or result.extra.get("void"):
        return Figures.INCONSISTENT
    if result.shared:
        return Figures.SHARED
    return Figures.SHORT if laws.is_cut_off(result) else Figures.SOUND
