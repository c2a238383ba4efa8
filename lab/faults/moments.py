"""A fault at random moments of a load, and what clients, readers and probes saw of it."""

import csv
import json
import random
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from http.client import HTTPException
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import MySQLdb

from lab.faults.fault import TYPICAL_WITHIN_S, Fault
from lab.faults.readers import LATEST_S, Readers
from lab.faults.running import Answer, Repeated, Running
from launch.processes import RunFailed
from launch.variants import Variant

FILE = "faults.json"
CLIENTS = 4
PAUSE_S = 0.04
"""Of a client after each answer: the machine has to keep up, or all of it is a backlog."""
CELERY_PAUSE_S = 0.1
"""A task per post costs more; and a sweep that waits behind a backlog expires."""
BEFORE_S = (0.5, 1.5)
"""Shortest and longest time from the last fault's end to the next moment."""
PROBE = "/readyz"
PROBED_EVERY_S = 0.1
PROBE_TIMEOUT_S = 10
SWEPT_S = 4.0
"""Time in which posts are found that a dead worker or request left behind."""
SECOND = 1.0
"""The time that has to be normal."""
NORMAL = 2.0
"""A p99 that is at most so many times what it was before is normal,"""
NOISE_S = 0.1
"""and any that is below this: a busy machine does as much."""
MENDED_WITHIN_S = 60
COLUMNS = "request_type name response_time_ms timestamp exception response_length".split()
GOOD = {200, 201, 202, 204}
REFUSED = {503, 429}


class Probe(NamedTuple):
    at: float
    seconds: float
    status: int | None


class Probes(Repeated):
    """Ask for the health of the service, each time on a new connection."""

    def __init__(self, running: Running) -> None:
        super().__init__([self._ask])
        self.running, self.asked = running, list[Probe]()

    def _ask(self) -> None:
        while not self.stopping.wait(PROBED_EVERY_S):
            at = time.monotonic()
            self.asked.append(Probe(at, *_status_of(self.running)))

    def unready_from(self, start: float, end: float) -> float | None:
        """Return when one that was asked for in a period wasn't "ready"; None if all were."""
        return next((it.at for it in self.asked if start <= it.at < end and it.status != 200), None)


def _status_of(running: Running) -> tuple[float, int | None]:
    """Return seconds and status of a probe."""
    at, status = time.monotonic(), None
    try:
        with closing(running.connection(PROBE_TIMEOUT_S)) as connection:
            connection.request("GET", PROBE)
            status = connection.getresponse().status
    except (OSError, HTTPException):
        pass
    return time.monotonic() - at, status


class Lags(Repeated):
    """Look for the oldest post without a receipt, of those that are accepted from now on.

    Receipts don't tell: what a promotion makes doubtful is delivered again, and has a late one.
    """

    def __init__(self, running: Running) -> None:
        super().__init__([self._look])
        self.running, self.newest = running, running.accepted[-1][1]["id"]
        self.seen = list[tuple[float, int]]()

    def longest_s(self) -> float | None:
        accepted_at = {post["id"]: at for at, post in self.running.accepted}
        ages = [at - accepted_at[post_id] for at, post_id in self.seen if post_id in accepted_at]
        return round(max(ages), 3) if ages else None

    def _look(self) -> None:
        oldest = f"SELECT min(id) FROM feed_post WHERE delivered_at IS NULL AND id > {self.newest}"  # noqa: S608
        while not self.stopping.wait(PROBED_EVERY_S):
            with suppress(MySQLdb.Error, sqlite3.Error):  # a fault of the database's
                ((post_id,),) = self.running.rows(oldest)
                if post_id is not None:
                    self.seen.append((time.monotonic(), post_id))


@dataclass
class Moment:
    at_stake: int
    normal_s: float | None
    """From the beginning of the fault to the first normal second; None: not within
    MENDED_WITHIN_S after it was mended."""
    told_s: float | None
    """From the beginning of the fault until /readyz said so; None: never."""
    typical_s: float
    """Median time of the requests that were sent while it lasted, of the slower route; 0 without
    any."""
    longest_lag_s: float | None = None
    """For how long a post was seen without a receipt, of those that were accepted from the
    beginning of the fault until all was normal; None: none was seen."""


@dataclass
class Seen:
    """What was seen of all moments of a fault."""

    moments: list[Moment] = field(default_factory=list)
    pages: int = 0
    compared: int = 0
    """Entries of pages that were compared with accepted posts."""
    wrong_pages: int = 0
    wrong: list[Any] = field(default_factory=list)
    """The first of them (``lab.faults.readers.Wrong``)."""
    longest_s: float = 0.0
    """The longest request of clients and readers."""
    answers: dict[str, int] = field(default_factory=dict)
    """By status."""
    loaded_s: float = 0.0
    slowest_probe_s: float = 0.0

    def write(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> "Seen":
        found = cls(**json.loads((folder / FILE).read_text()))
        found.moments = [Moment(**it) for it in found.moments]  # type: ignore[arg-type]
        return found


def observe(
    fault: Fault,
    running: Running,
    folder: Path,
    *,
    moments: int,
    until_harm: bool = False,
    clients: int = CLIENTS,
    advance: Callable[[str], object] = lambda said: None,
) -> Seen:
    """Put the service under load, inject a fault at random moments, and wait for the drain.

    Leaves what was seen, after each moment, and the accepted posts in ``folder``. ``until_harm``:
    stop after the first moment that did harm. Raises RunFailed for a void moment, and if a page is
    wrong before the first.
    """
    seen, began = Seen(), time.monotonic()
    pause_s = CELERY_PAUSE_S if running.service.variant.uses_celery else PAUSE_S
    with fault.around(running):
        with (
            running.load(clients, pause_s),
            Readers(running, latest_s=latest_s(running.service.variant)) as readers,
            Probes(running) as probes,
        ):
            time.sleep(SECOND)  # new connections, and caches of friends
            answered = len(running.answers)
            _wait_for_pages(readers)  # a control is right until the fault comes
            if readers.wrong:
                raise RunFailed(f"pages were wrong before the first moment: {readers.wrong[0]}")
            for number in range(1, moments + 1):
                advance(f"{fault.name}: moment {number} of {moments}")
                seen.moments.append(_moment(fault, running, readers, probes))
                _record(seen, running.answers[answered:], readers, probes)
                seen.write(folder)
                if until_harm and does_harm(seen, fault):
                    break
        _record(seen, running.answers[answered:], readers, probes)
        seen.loaded_s = round(time.monotonic() - began, 3)
        advance(f"{fault.name}: drain")
        running.drained()
    seen.write(folder)
    write_requests(running.answers[answered:], folder)
    return seen


def does_harm(seen: Seen, fault: Fault) -> bool:
    """Return whether readers and clients saw what no safeguard would let through."""
    return seen.wrong_pages > 0 or late(seen) > 0 or failures(seen.answers, fault) > 0


def failures(answers: Mapping[str, float | None], fault: Fault) -> float:
    """Return how many requests failed: 500, or no answer where there should be one."""
    kinds = ("500",) if fault.hides_answers else ("500", "none")
    return sum(answers.get(it) or 0 for it in kinds)


def late(seen: Seen) -> int:
    """Return how many moments kept most requests waiting."""
    return sum(moment.typical_s > TYPICAL_WITHIN_S for moment in seen.moments)


def latest_s(variant: Variant) -> float:
    """Return the age at which an accepted post must be in the feeds."""
    flags = variant.strategy_flags
    left_behind = flags.needs_celery or not flags.needs_shared_store
    return LATEST_S + SWEPT_S if left_behind else LATEST_S


def _record(seen: Seen, answers: Sequence[Answer], readers: Readers, probes: Probes) -> None:
    seen.pages, seen.compared = readers.pages, readers.compared
    seen.wrong_pages, seen.wrong = len(readers.wrong), [list(it) for it in readers.wrong[:5]]
    seen.longest_s = round(max((it.ended_at - it.begun_at for it in answers), default=0.0), 3)
    seen.slowest_probe_s = round(max((it.seconds for it in probes.asked), default=0.0), 3)
    said = [it.said for it in answers]
    seen.answers = {status: said.count(status) for status in sorted(set(said))}


def _moment(fault: Fault, running: Running, readers: Readers, probes: Probes) -> Moment:
    time.sleep(random.uniform(*BEFORE_S))  # noqa: S311
    usual_s = _p99_s(_answers_since(running, time.monotonic() - SECOND))
    readers.mended_at, begun_at = None, time.monotonic()
    with Lags(running) as lags:
        at_stake = fault.inject(running, readers)
        mended_at = readers.mended_at or time.monotonic()
        if at_stake <= 0:
            raise RunFailed(f"{fault.name}: nothing was at stake ({fault.at_stake})")
        normal_at = _normal_again(running, readers, max(NORMAL * usual_s, NOISE_S))
    told_at = probes.unready_from(begun_at, normal_at or time.monotonic())
    return Moment(
        at_stake,
        None if normal_at is None else round(normal_at - begun_at, 3),
        None if told_at is None else round(told_at - begun_at, 3),
        round(_typical_s(running.answers, begun_at, mended_at), 4),
        lags.longest_s(),
    )


def _normal_again(running: Running, readers: Readers, p99_s: float) -> float | None:
    """Wait for a second in which all is answered well and in time; return its beginning.

    At its end, readers compare posts that were accepted since it was mended.
    """
    mended_at = time.monotonic()
    while (now := time.monotonic()) < mended_at + MENDED_WITHIN_S:
        start = now - SECOND
        if start >= mended_at:
            recent = _answers_since(running, start)
            posted = any(it.status == 201 for it in recent)
            if posted and all(it.status in GOOD for it in recent) and _p99_s(recent) <= p99_s:
                _wait_for_pages(readers)
                return start
        time.sleep(0.05)
    return None


def _typical_s(answers: Sequence[Answer], start: float, end: float) -> float:
    times: defaultdict[str, list[float]] = defaultdict(list)
    for it in answers:
        if start <= it.begun_at < end:
            times[it.request].append(it.ended_at - it.begun_at)
    return max(map(median, times.values()), default=0.0)


def _wait_for_pages(readers: Readers) -> None:
    """Wait until pages were compared that have to show what was accepted until now."""
    time.sleep(readers.latest_s)
    seen, give_up_at = readers.compared, time.monotonic() + MENDED_WITHIN_S
    while readers.compared == seen and time.monotonic() < give_up_at:
        time.sleep(0.02)


def _answers_since(running: Running, start: float) -> list[Answer]:
    """Return what ended since then, the newest first."""
    found = []
    for it in reversed(running.answers):
        if it.ended_at < start - 1:  # threads append a little out of order
            break
        if it.ended_at >= start:
            found.append(it)
    return found


def _p99_s(answers: Sequence[Answer]) -> float:
    times = [it.ended_at - it.begun_at for it in answers]
    return quantiles(times, n=100)[98] if len(times) > 1 else 0.0


def write_requests(answers: Sequence[Answer], folder: Path) -> None:
    """Write requests.csv and unanswered.csv as Locust does."""
    epoch = time.time() - time.monotonic()
    with (folder / "requests.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for it in answers:
            error = "" if it.status in GOOD else f"status {it.status}" if it.status else "no answer"
            ms = (it.ended_at - it.begun_at) * 1000
            table.writerow((*it.request.split(" ", 1), ms, it.begun_at + epoch, error, 0))
    (folder / "unanswered.csv").write_text("request_type,name,timestamp,waited_ms\n")
