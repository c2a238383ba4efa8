"""A fault at random moments of a load, and what clients, readers and probes saw of it."""

import csv
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from http.client import HTTPException
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from lab.faults.fault import Fault
from lab.faults.readers import Readers
from lab.faults.running import Answer, Running, wait_for
from lab.running.threads import repeated
from launch.processes import RunFailed

FILE = "faults.json"
CLIENTS = 4
PAUSE_S = 0.04
"""Of a client after each answer: the machine has to keep up, or all of it is a backlog."""
QUEUE_PAUSE_S = 0.2
"""A task per post costs more; and a sweep that waits behind a backlog expires."""
BEFORE_S = (0.5, 1.5)
"""Shortest and longest time from the last fault's end to the next moment."""
PROBED_EVERY_S = 0.1
PROBE_TIMEOUT_S = 10
CONTROLS_GRACE_S = 2.0
"""Time for which a control's pages may lack a post with a receipt: some set receipts first."""
SECOND = 1.0
"""The time that has to be normal."""
NORMAL = 2.0
"""A p99 that is at most so many times what it was before is normal,"""
NOISE_S = 0.1
"""and any that is below this: a busy machine does as much."""
MENDED_WITHIN_S = 60
LATELY = 5000
"""Answers that surely are more than those of a second."""
COLUMNS = "request_type name response_time_ms timestamp exception response_length".split()
GOOD = {200, 201, 202, 204}
REFUSED = {503, 429}


@dataclass
class Moment:
    at_stake: int
    normal_s: float | None
    """From the beginning of the fault to the first normal second; None: not within
    MENDED_WITHIN_S after it was mended."""
    typical_s: float
    """Median time of the requests that were sent while it lasted, of the slower route; 0 without
    any."""
    longest_lag_s: float | None = None
    """For how long a post was seen without a receipt, of those that were accepted from the
    beginning of the fault until all was normal; None: none was seen."""
    began_at: float = 0.0
    """Monotonic, like ``mended_at``."""
    mended_at: float = 0.0


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
    streamed: dict[str, float | None] = field(default_factory=dict)
    """What streams showed (``lab.faults.streams``)."""

    def write(self, folder: Path) -> None:
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> "Seen":
        seen = cls(**json.loads((folder / FILE).read_text()))
        seen.moments = [Moment(**moment) for moment in seen.moments]  # type: ignore[arg-type]
        return seen


def observe(
    fault: Fault,
    running: Running,
    folder: Path,
    *,
    moments: int,
    until_harm: bool = False,
    clients: int = CLIENTS,
    advance: Callable[[str], object] = lambda stage: None,
) -> Seen:
    """Put the service under load, inject a fault at random moments, and wait for the drain.

    Leaves what was seen, and the accepted posts, in ``folder``. ``until_harm``: stop after the
    first moment that did harm. Raises RunFailed for a void moment, and if a page is wrong before
    the first.
    """
    seen, began, probes_s = Seen(), time.monotonic(), list[float]()
    variant = running.service.variant
    readers = Readers(running, CONTROLS_GRACE_S if variant.is_control else 0.0)
    load = running.load(clients, QUEUE_PAUSE_S if variant.uses_queue else PAUSE_S)
    probing = repeated(lambda: probes_s.append(_probe(running)), every_s=PROBED_EVERY_S)
    with fault.around(running) as compare_streams:
        with load, readers.reading(), probing:
            time.sleep(SECOND)  # new connections, and caches of friends
            answered = len(running.answers)
            _wait_for_pages(readers)  # also a control's are right until the fault comes
            if readers.wrong:
                raise RunFailed(f"pages were wrong before the first moment: {readers.wrong[0]}")
            for number in range(1, moments + 1):
                advance(f"{fault.name}: moment {number} of {moments}")
                seen.moments.append(_moment(fault, running, readers))
                _record(seen, running.answers[answered:], readers)
                if until_harm and does_harm(seen, fault):
                    break
        _record(seen, running.answers[answered:], readers)
        seen.slowest_probe_s = round(max(probes_s, default=0.0), 3)
        seen.loaded_s = round(time.monotonic() - began, 3)
        write_requests(running.answers[answered:], folder)
        advance(f"{fault.name}: drain")
        running.drained()
        if compare_streams:
            seen.streamed = compare_streams(seen.moments)
    seen.write(folder)
    return seen


def _moment(fault: Fault, running: Running, readers: Readers) -> Moment:
    time.sleep(random.uniform(*BEFORE_S))  # noqa: S311
    usual_s = _p99_s(_answers_since(running, time.monotonic() - SECOND))
    began = time.monotonic()
    at_stake = fault.inject(running, readers)
    mended_at = time.monotonic()
    if at_stake <= 0:
        raise RunFailed(f"{fault.name}: nothing was at stake ({fault.at_stake})")
    normal_at = _normal_again(running, readers, max(NORMAL * usual_s, NOISE_S))
    return Moment(
        at_stake,
        None if normal_at is None else round(normal_at - began, 3),
        round(_typical_s(running.answers, began, mended_at), 4),
        _longest_lag_s(running, readers, began),
        began,
        mended_at,
    )


def _longest_lag_s(running: Running, readers: Readers, began: float) -> float | None:
    """Return for how long a post was seen without a receipt, of those accepted since ``began``.

    Receipts don't tell: what a promotion makes doubtful is delivered again, and has a late one.
    """
    accepted_at = {post["id"]: at for at, post in running.accepted if at >= began}
    looks = [look for look in readers.looks if look.at >= began]
    lags_s = [
        look.at - accepted_at[post_id]
        for look in looks
        for post_id in look.pending & accepted_at.keys()
    ]
    return round(max(0.0, *lags_s), 3) if lags_s else None  # a look may precede the answer


def _probe(running: Running) -> float:
    """Ask for the health of the service, on a new connection; return how long that took."""
    began = time.monotonic()
    with suppress(OSError, HTTPException), closing(running.connection(PROBE_TIMEOUT_S)) as http:
        http.request("GET", "/readyz")
        http.getresponse()
    return time.monotonic() - began


def _record(seen: Seen, answers: Sequence[Answer], readers: Readers) -> None:
    seen.pages, seen.compared = readers.pages, readers.compared
    seen.wrong_pages, seen.wrong = len(readers.wrong), [list(wrong) for wrong in readers.wrong[:5]]
    seen.longest_s = round(max((answer.seconds for answer in answers), default=0.0), 3)
    seen.answers = dict(sorted(Counter(answer.outcome for answer in answers).items()))


def does_harm(seen: Seen, fault: Fault) -> bool:
    """Return whether readers and clients saw what no safeguard would let through."""
    never_normal = any(moment.normal_s is None for moment in seen.moments)
    failed = failures(seen.answers, fault) > 0
    return seen.wrong_pages > 0 or late(seen, fault) > 0 or failed or never_normal


def failures(answers: Mapping[str, float | None], fault: Fault) -> float:
    """Return how many requests failed: 500, or no answer where there should be one."""
    kinds = ("500",) if fault.hides_answers else ("500", "none")
    return sum(answers.get(kind) or 0 for kind in kinds)


def late(seen: Seen, fault: Fault) -> int:
    """Return how many moments kept most requests waiting."""
    return sum(moment.typical_s > fault.typical_within_s for moment in seen.moments)


def _normal_again(running: Running, readers: Readers, p99_s: float) -> float | None:
    """Wait for a second in which all is answered well and in time; return its beginning.

    Then wait until what was accepted by its end is delivered, and compared. Returns None if either
    takes longer than MENDED_WITHIN_S.
    """
    mended_at = time.monotonic()
    while (now := time.monotonic()) < mended_at + MENDED_WITHIN_S:
        start = now - SECOND
        if start >= mended_at:
            recent = _answers_since(running, start)
            statuses = {answer.status for answer in recent}
            if 201 in statuses and statuses <= GOOD and _p99_s(recent) <= p99_s:
                try:
                    _wait_for_pages(readers)
                except RunFailed:
                    return None
                return start
        time.sleep(0.05)
    return None


def _typical_s(answers: Sequence[Answer], start: float, end: float) -> float:
    times: defaultdict[str, list[float]] = defaultdict(list)
    for answer in answers:
        if start <= answer.begun_at < end:
            times[answer.request].append(answer.seconds)
    return max(map(median, times.values()), default=0.0)


def _wait_for_pages(readers: Readers) -> None:
    """Wait until pages were compared that have to show what was accepted until now.

    Raises RunFailed after MENDED_WITHIN_S.
    """
    now = time.monotonic()
    wait_for(lambda: readers.have_compared(now), MENDED_WITHIN_S)


def _answers_since(running: Running, start: float) -> list[Answer]:
    return [answer for answer in running.answers[-LATELY:] if answer.ended_at >= start]


def _p99_s(answers: Sequence[Answer]) -> float:
    times = [answer.seconds for answer in answers]
    return quantiles(times, n=100)[98] if len(times) > 1 else 0.0


def write_requests(answers: Sequence[Answer], folder: Path) -> None:
    """Write requests.csv and unanswered.csv as Locust does."""
    epoch = time.time() - time.monotonic()
    with (folder / "requests.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for answer in answers:
            error = f"status {answer.status}" if answer.status else "no answer"
            error = "" if answer.status in GOOD else error
            at, ms = answer.begun_at + epoch, answer.seconds * 1000
            table.writerow((*answer.request.split(" ", 1), ms, at, error, 0))
    (folder / "unanswered.csv").write_text("request_type,name,timestamp,waited_ms\n")
