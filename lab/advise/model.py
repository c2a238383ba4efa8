"""How much of everything a situation needs.

With p posts/s, r reads per post, and D = followers * active + 1 deliveries per post:

- cores of a role = p * (its part of a post) + p * D * (its part of a delivery)
  + p * r * (its part of a page; of pull also following * its part of one merged author);
- a delivery costs what it costs in batches of p * linger / drainers posts (inline: of one);
- whatever the rate, a drainer and the servers that it asks for posts use their base;
- there are as many drainers as keep each of them below the share that may be busy;
- lag = linger + the CPU time of one batch, client and server in turn (inline: of one post's
  deliveries; pull: none);
- memory or disk of timelines = people who come * entries kept * bytes per entry.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

from lab.advise.candidates import Candidate
from lab.advise.cells import Delivery
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES
from launch.variants import GUNICORN

MOST_POSTS, MOST_DELIVERIES = 250, 262_144
"""Of a drainer's batch (docs/decisions/0004)."""
TIE = 1.1
"""Costs that differ by a smaller factor are a tie."""
MOST_POSTS_PER_S = 1e9


@dataclass(frozen=True)
class Needs:
    """What one candidate needs in a situation, at 100 % busy."""

    candidate: Candidate
    cores: Mapping[str, float]
    """By role."""
    batch: float
    """Posts."""
    drainers: int
    lag_ms: float
    delivery: Delivery | None
    """None for pull."""

    @property
    def total(self) -> float:
        return sum(self.cores.values())

    @property
    def parts(self) -> int:
        """Processes and servers to run beside web and database: drainers and a Redis."""
        return self.drainers + bool(self.cores["redis"])


def needs(candidate: Candidate, situation: Situation, *, drainers: int | None = None) -> Needs:
    """Return what it takes, with so many drainers or with as many as it takes.

    Raises NotMeasured.
    """
    if candidate.pulls or candidate.is_inline:
        return _needs(candidate, situation, 0)
    if drainers:
        return _needs(candidate, situation, drainers)
    needed = _needs(candidate, situation, 1)
    while (drainers_needed := ceil(_delivering(needed) / situation.busy)) > needed.drainers:
        needed = _needs(candidate, situation, drainers_needed)
    return needed


def _delivering(needed: Needs) -> float:
    """Return the cores of the drainers without their polling."""
    return needed.cores["workers"] - needed.candidate.base_cores["workers"] * needed.drainers


def _needs(candidate: Candidate, situation: Situation, drainers: int) -> Needs:
    posts, reads = situation.posts_per_s, situation.reads_per_s
    per_post = situation.recipients + 1
    batch, delivery, lag_ms = 1.0, None, 0.0
    delivered_us: Mapping[str, float] = {}
    if candidate.cells:
        if drainers:
            most = min(MOST_POSTS, MOST_DELIVERIES / per_post)
            batch = max(1.0, min(most, posts * candidate.linger_ms / 1000 / drainers))
        delivery = candidate.cells.delivery(situation.readers, situation.recipients, batch)
        delivered_us = candidate.delivery_us(delivery.client_us, delivery.server_us)
        lag_ms = batch * per_post * delivery.us / 1000
        lag_ms += candidate.linger_ms if drainers else 0.0
    cores = {
        role: (
            posts * (candidate.post_us.get(role, 0.0) + per_post * delivered_us.get(role, 0.0))
            + reads * candidate.read_us.get(role, 0.0)
            + reads * situation.following * candidate.merged_us.get(role, 0.0)
        )
        / 1e6
        + candidate.base_cores.get(role, 0.0) * (1 if role == "web" else max(1, drainers))
        for role in ROLES
    }
    return Needs(candidate, cores, batch, drainers, lag_ms, delivery)


def advised(candidates: Sequence[Needs], lag_ms: float) -> list[Needs]:
    """Return those that keep the budget for lag, the one that needs fewest cores first.

    Of those that tie with it, the one with fewest parts is first, and gunicorn before Granian.
    """
    in_budget = sorted(
        (needed for needed in candidates if needed.lag_ms <= lag_ms),
        key=lambda needed: needed.total,
    )
    tied = sum(needed.total < TIE * in_budget[0].total for needed in in_budget)
    plainest = sorted(
        in_budget[:tied],
        key=lambda needed: (needed.parts, needed.candidate.server != GUNICORN),
    )
    return plainest + in_budget[tied:]


def crossover(pull: Needs, push: Needs, situation: Situation) -> float | None:
    """Return the reads per post from which push needs fewer cores; None if pull never does.

    The cores are linear in the reads, so two points are enough.
    """
    none, one = (replace(situation, reads_per_post=reads) for reads in (0, 1))
    saved = needs(push.candidate, none).total - needs(pull.candidate, none).total
    saved_per_read = (needs(pull.candidate, one).total - needs(pull.candidate, none).total) - (
        needs(push.candidate, one).total - needs(push.candidate, none).total
    )
    return saved / saved_per_read if saved > 0 and saved_per_read > 0 else None


def rate_at(used: Callable[[Situation], float], limit: float, situation: Situation) -> float:
    """Return the posts/s at which so many cores are used; infinite if no rate uses them.

    Raises NotMeasured, as ``used`` does.
    """
    low, high = 0.0, situation.posts_per_s
    while used(replace(situation, posts_per_s=high)) < limit:
        low, high = high, high * 2
        if high > MOST_POSTS_PER_S:
            return inf
    while high - low > 0.001 * high:
        middle = (low + high) / 2
        reached = used(replace(situation, posts_per_s=middle)) >= limit
        low, high = (low, middle) if reached else (middle, high)
    return high


def reads_to_push_for(delivery: Delivery, pull: Candidate) -> float | None:
    """Return the reads by a reader per post of an author from which pushing to them costs less.

    A delivery over a merged author; the number of readers is in both and cancels.
    """
    merged_us = sum(pull.merged_us.values())
    return delivery.us / merged_us if merged_us else None


def most_readers_in(lag_ms: float, push: Needs, delivery: Delivery) -> float:
    """Return the deliveries of one post that one process makes within the budget for lag."""
    left_ms = lag_ms - (push.candidate.linger_ms if push.drainers else 0.0)
    return max(0.0, left_ms * 1000 / delivery.us)
