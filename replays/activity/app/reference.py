"""A slow and simple reference implementation, from every log of everybody."""

from collections.abc import Iterable, Sequence

from replays.activity.app.models import Log
from replays.activity.app.periods import Period
from replays.activity.app.visits import Visit


def all_visits(logs: Iterable[Log]) -> list[Visit]:
    """Return every visit in the logs of one person, uncut."""
    found = []
    entered = None
    for log in sorted(logs, key=lambda log: (log.at, log.pk)):
        if log.direction == "in":
            entered = log
        elif entered is not None:
            found.append(Visit(entered.at, log.at, entered.device))
            entered = None
    if entered is not None:
        found.append(Visit(entered.at, None, entered.device))
    return found


def visits(logs: Iterable[Log], period: Period, now: int) -> list[Visit]:
    return [part for visit in all_visits(logs) for part in _within(visit, period, now)]


def seconds(logs: Sequence[Log], periods: Iterable[Period], now: int) -> list[int]:
    return [sum(visit.seconds(now) for visit in visits(logs, period, now)) for period in periods]


def last_visit(logs: Iterable[Log]) -> Visit | None:
    found = all_visits(logs)
    return found[-1] if found else None


def inside_now(logs: Iterable[tuple[int, int, int, str]]) -> int:
    """Return the number of people whose last log is an entry; rows: person, at, id, direction."""
    last: dict[int, tuple[int, int, str]] = {}
    for person_id, at, log_id, direction in logs:
        last[person_id] = max((at, log_id, direction), last.get(person_id, (0, 0, "")))
    return sum(direction == "in" for _, _, direction in last.values())


def _within(visit: Visit, period: Period, now: int) -> list[Visit]:
    """Return the visit, cut with virtual logs at the period's borders; nothing if it is outside."""
    until = now if visit.left_at is None else visit.left_at
    if visit.entered_at >= period.end:
        return []
    if visit.entered_at < period.start:
        if until <= period.start:
            return []
        visit = visit._replace(entered_at=period.start, cut_at_start=True)
    if until > period.end:
        visit = visit._replace(left_at=period.end, cut_at_end=True)
    return [visit]
