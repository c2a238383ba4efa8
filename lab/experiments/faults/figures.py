"""The figures of a run: what its audit found, and what was seen of each moment."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from lab.faults.fault import Fault
from lab.faults.moments import GOOD, REFUSED, Seen, late

TIMED = ("late", "slow_probes", "slow_streams", "never_normal")
FINDINGS = ("lost", "duplicated", "phantom", "wrong_pages", "bad_answers", *TIMED)
SUREST = 0.95
SLOWER = 2.0
"""Streams that a fault spares may be so many times slower while it lasts."""


def audit_of(
    seen: Seen, timelines: Mapping[str, Any], fault: Fault, *, is_busy: bool = False
) -> dict[str, Any]:
    """Return the audit of a run, from that of its timelines and what readers and clients saw.

    On a busy machine times prove nothing.
    """
    streamed = seen.streamed
    calm_ms, during_ms = streamed.get("calm_p99_ms"), streamed.get("others_p99_ms")
    allowed = {str(status) for status in GOOD | (REFUSED if fault.refuses else set())}
    if fault.hides_answers:
        allowed.add("none")
    found = {
        "lost": timelines["missing"] + (streamed.get("unseen") or 0),
        "duplicated": timelines["duplicated"] + (streamed.get("seen_twice") or 0),
        "phantom": timelines["unexpected"] + (streamed.get("foreign") or 0),
        "wrong_pages": seen.wrong_pages,
        "bad_answers": sum(n for status, n in seen.answers.items() if status not in allowed),
        "late": late(seen, fault),
        "slow_streams": int(bool(calm_ms and during_ms and during_ms > SLOWER * calm_ms)),
        "slow_probes": int(seen.slowest_probe_s > fault.probes_within_s),
        "never_normal": sum(moment.normal_s is None for moment in seen.moments),
    }
    judged = [count for kind, count in found.items() if not (is_busy and kind in TIMED)]
    return found | {"ok": not any(judged) and seen.compared > 0}


def as_extra(seen: Seen) -> dict[str, float | None]:
    """Return the figures of a result: times in seconds, medians of its moments."""
    answers = {f"answers_{status}": float(count) for status, count in seen.answers.items()}
    return answers | {
        "moments": len(seen.moments),
        "at_stake": _median(moment.at_stake for moment in seen.moments),
        "pages": seen.pages,
        "compared": seen.compared,
        "longest_s": seen.longest_s,
        "typical_s": max((moment.typical_s for moment in seen.moments), default=None),
        "normal_s": _median(moment.normal_s for moment in seen.moments),
        "normal_worst_s": max((moment.normal_s or 0.0 for moment in seen.moments), default=None),
        "longest_lag_s": _median(moment.longest_lag_s for moment in seen.moments),
        "longest_lag_worst_s": max(
            (moment.longest_lag_s or 0.0 for moment in seen.moments), default=None
        ),
        "slowest_probe_s": seen.slowest_probe_s,
        "loaded_s": seen.loaded_s,
        "streams_calm_p99_ms": seen.streamed.get("calm_p99_ms"),
        "streams_p99_ms": seen.streamed.get("others_p99_ms"),
    }


def bound(moments: int) -> float:
    """Return the share of moments that may do harm, at 95 %, where none of so many did."""
    return 1.0 - float((1 - SUREST) ** (1 / moments))


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(median(known), 3) if known else None
