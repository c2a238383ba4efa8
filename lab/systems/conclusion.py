"""What can be concluded from outside when a load has ended: feeds, and the lag that was seen."""

import time
from collections.abc import Iterator

from lab.experiments.base import Measured
from lab.progress import Advance, stage
from lab.results import figures
from lab.systems.audit import FeedAudit, Journal
from lab.systems.service import OutsideService
from launch.processes import RunFailed
from launch.service import as_audit

POST, SEEN = "POST /v1/posts/", "FEED time to visible"
LEAST = {"p50": 1, "p95": 20, "p99": 100, "max": 1}
"""Posts that have to be looked for, so that a percentile says something."""
LIMITATION = (
    "{name} is known by its API alone: receipts, deliveries/s and the backlog are not measured. "
    "Its lag is from sending a post to seeing it in one friend's feed, of {seen:,} posts; "
    "{unseen:,} of them were not seen within 10 s or before the load ended, and count as that "
    "long. It is drained, at the latest, when every feed was seen to show all its posts: looks are "
    "0.5 s apart, and begin when Locust has ended."
)


def conclude(measured: Measured, service: OutsideService) -> None:
    """Wait until the feeds are whole, for as long as deliveries may take, and audit them."""
    result = measured.result
    journal = Journal.read(measured.folder / "accepted.csv")
    audit = FeedAudit(service.api, service.people, service.friends, journal)
    give_up_at = time.monotonic() + measured.options.drain_within_s
    with stage("drain") as advance:
        _until(give_up_at, _watched(audit.await_newest(), service), advance)
    with stage("audit") as advance:
        left = _until(give_up_at, _watched(audit.read_all(), service), advance)
    if left:
        result.errors.append(
            f"not drained within {measured.options.drain_within_s} s: {left} feeds"
        )
    if service.asked_friends() != service.friends:
        raise RunFailed("friendships changed during the run, so it can't be audited")
    posts = [request for request in measured.requests.rows if request.name == POST]
    result.audit = as_audit(audit.counts(sum(bool(post.error) for post in posts)))
    accepted_at = [post.ended_at for post in posts if not post.error]
    if audit.complete_at and accepted_at:
        result.drain_s = round(max(0.0, audit.complete_at - max(accepted_at)), 3)
    _record_lag(measured)


def _watched(rounds: Iterator[int], service: OutsideService) -> Iterator[int]:
    """Yield the rounds. Raises RunFailed if a process that we started has ended."""
    for left in rounds:
        service.processes.check("web")
        service.processes.check("workers")
        yield left


def _until(give_up_at: float, rounds: Iterator[int], advance: Advance) -> int:
    """Return how many feeds were incomplete in the last round before it was too late."""
    left = 0
    for left in rounds:
        wait_s = max(0, round(give_up_at - time.monotonic()))
        advance(f"{left:,} feeds lack posts; given up in {wait_s} s")
        if left and not wait_s:
            break
    return left


def _record_lag(measured: Measured) -> None:
    """Record the lag; a post that was not seen counts as the time for which it was looked for."""
    result, (start, end) = measured.result, measured.requests.window
    looks = [
        request
        for request in measured.requests.rows
        if request.name == SEEN and start <= request.begun_at < end
    ]
    known = [name for name, least in LEAST.items() if len(looks) >= least]
    result.lag_ms = dict.fromkeys(LEAST) | figures.percentiles([look.ms for look in looks], known)
    result.deliveries = None
    unseen = sum(bool(look.error) for look in looks)
    result.environment["limitations"].append(
        LIMITATION.format(name=result.variant, seen=len(looks), unseen=unseen)
    )
