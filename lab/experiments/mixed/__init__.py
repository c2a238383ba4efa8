"""Push or pull: posts and reads of feeds on the same service, at several reads per post."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from lab.experiments.base import Measured, Option
from lab.experiments.capacity.bisection import first_rate
from lab.experiments.capacity.limits import Limits
from lab.experiments.capacity.search import judge, next_step
from lab.experiments.fanout import Fanout
from lab.experiments.mixed.costs import ROLES, steady
from lab.experiments.mixed.crossover import (
    HOLDS,
    MOST_STEPS,
    SEARCHED,
    Bracket,
    crossing,
    curves,
    reads_per_post,
)
from lab.experiments.mixed.presentation import POST, MixedPresentation
from lab.results.result import Result
from lab.running.load import Load, OpenLoad
from lab.running.options import RunOptions
from launch.variants import Variant

OPERATIONS_PER_S = 200
RUN_TIME_S = 8
WARM_UP_S = 3
TIMEOUT_S = 5
"""Until a client gives up."""
READS_PER_POST = (0, 1, 10, 30, 100)
SOCIAL = "social"
"""DeathStarBench's shares: 60 % read their feed, 30 % a person's posts, 10 % post."""
DEEP_SHARE = 0.1
POSTS_BEFORE = 2
"""Posts per person before the load, so that there are pages to read."""


class Mixed(Fanout):
    """Every variant at the same rate of operations, which are posts and reads of pages.

    After the loads, the crossover is searched: pull and the push that costs least next to it, both
    at the same reads per post, in the middle between what was tried.
    """

    name = "mixed"
    presentation = MixedPresentation()
    locustfile = "locustfiles/open_load.py"
    variants: ClassVar[tuple[str, ...]] = (
        "mysql_tuned-pull@redis",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-log",
        "mysql_tuned-outbox-setbased@redis",
        "mysql_tuned-inline-setbased@redis",
    )
    """All have the same cache of posts, or the table would compare caches."""
    drain_within_s = 60
    options: ClassVar[tuple[Option, ...]] = (
        Option("deep_share", f"share of the visits that go on to the fifth page ({DEEP_SHARE:g})"),
        Option("cold_share", "share of the people who never come (0)"),
    )

    def loads(self, options: RunOptions) -> list[Load]:
        """Return the usual loads, others that are asked for (reads0.5, holds10), and ``social``."""
        usual = [_load(reads, options) for reads in READS_PER_POST]
        known = [SOCIAL, *(load.name for load in usual)]
        others = [name.strip() for name in (options.loads or "").split(",")]
        named = [_named(name, options) for name in others if name not in known]
        return [*usual, *filter(None, named), self._social(options)]

    def next_load(
        self, variant: Variant, options: RunOptions, results: Sequence[Result]
    ) -> Load | None:
        """Return the next load, or the next step of a search (holds10), which is run alone."""
        search = HOLDS.fullmatch(options.loads or "")
        if search is None:
            return super().next_load(variant, options, results)
        most = Limits().rps
        first = first_rate(options.users or OPERATIONS_PER_S, most)
        return next_step(
            variant, results, lambda rate: _steps(search[1], rate, options), first, most
        )

    def next_loads(
        self,
        variants: Sequence[Variant],
        options: RunOptions,
        results: Mapping[str, Sequence[Result]],
    ) -> list[tuple[Variant, Load]]:
        loads = super().next_loads(variants, options, results)
        if loads or options.loads:
            return loads
        measured = curves([result for of_one in results.values() for result in of_one])
        known = [it for it in variants if it.name in measured]
        pulls = [it for it in known if it.store_flags.is_computed_on_read]
        pushes = {it.name: it for it in known if it not in pulls}
        if not pulls:
            return []
        pull = pulls[0]
        found = crossing(measured[pull.name], {name: measured[name] for name in pushes})
        steps = len(results[pull.name]) - len(READS_PER_POST)
        if not isinstance(found, Bracket) or found.is_narrow or steps >= MOST_STEPS:
            return []
        load = _load(found.middle, options)
        return [(pull, load), (pushes[found.push], load)]

    def seeding(self) -> Sequence[Sequence[str]]:
        return (("seed_posts", f"--each={POSTS_BEFORE}", "--days=1"),)

    def conclude(self, measured: Measured) -> None:
        super().conclude(measured)
        result = measured.result
        names = [it.name for it in measured.requests.answered if not it.error]
        posts, operations = names.count(POST), len(names)
        used_s = [result.cpu_s.get(role, 0.0) for role in ROLES]
        result.extra |= {"posts": float(posts), "reads": float(operations - posts)}
        if operations and None not in used_s:
            result.extra["cpu_ms"] = sum(filter(None, used_s)) * 1000 / operations
        if result.balance:
            result.balance.accepted = posts
        if SEARCHED.fullmatch(measured.load.name):
            judge(measured, Limits())
        if not steady(result):
            result.errors.append("the backlog grew in the window: part of its work came later")

    def _social(self, options: RunOptions) -> Load:
        (load,) = super().loads(options._replace(run_time_s=options.run_time_s or RUN_TIME_S))
        unseen = {name: it for name, it in load.options.items() if name != "visible-share"}
        return replace(
            load,
            users=options.users or OPERATIONS_PER_S,
            name=SOCIAL,
            locustfile="locustfiles/mixed.py",
            counted=(),
            options=unseen,
            optional=True,
        )


def _named(name: str, options: RunOptions) -> Load | None:
    """Return the load that a name spells; None if it spells none."""
    if step := SEARCHED.fullmatch(name):
        options, reads = options._replace(users=int(step[2])), reads_per_post(step[1])
    else:
        reads = reads_per_post(name.replace("holds", "reads", 1))
    return None if reads is None else replace(_load(reads, options), name=name, optional=True)


def _steps(reads: str, rate: int, options: RunOptions) -> Sequence[Load]:
    """Return the load of a rate, and the one that follows if it breaks."""
    load = _load(float(reads), options._replace(users=rate))
    name = f"{load.name}at{rate}"
    return [replace(load, name=name), replace(load, name=f"{name}_again")]


def _load(reads: float, options: RunOptions) -> Load:
    """Return the load of so many reads per post."""
    operations = options.users or OPERATIONS_PER_S
    run_time_s = options.run_time_s or RUN_TIME_S
    posts = operations / (1 + reads)
    return OpenLoad(
        operations,
        run_time_s,
        Mixed.locustfile,
        name=f"reads{reads:g}",
        arrivals="open",
        warm_up_s=min(WARM_UP_S, run_time_s),
        patience_s=TIMEOUT_S,
        options={
            "posts-per-s": f"{posts:g}",
            "reads-per-s": f"{operations - posts:g}",
            "deep-share": f"{options.own.get('deep_share', DEEP_SHARE):g}",
            "cold-share": f"{options.own.get('cold_share', 0.0):g}",
        },
        files=("accepted", "steps"),
        optional=reads not in READS_PER_POST,
    )
