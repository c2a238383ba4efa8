"""Push or pull: posts and reads of feeds on the same service, at several reads per post.

Every variant at the same rate of operations, which are posts and reads of pages. After the loads,
the crossover is searched: pull and the push that costs least next to it, both at the same reads per
post, in the middle between what was tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions, in_turn
from lab.experiments.mixed.costs import ROLES, steady
from lab.experiments.mixed.crossover import (
    HOLDS,
    MOST_STEPS,
    SEARCHED,
    Bracket,
    curves,
    push_or_pull,
    reads_per_post,
)
from lab.experiments.mixed.presentation import POST, PRESENTATION
from lab.experiments.search import judge, next_step
from lab.results.result import Result
from lab.running.load import Load, OpenLoad
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


def load_of(reads: float, options: RunOptions) -> Load:
    """Return the load of so many reads per post."""
    operations = options.users or OPERATIONS_PER_S
    run_time_s = options.run_time_s or RUN_TIME_S
    posts = operations / (1 + reads)
    return OpenLoad(
        operations,
        run_time_s,
        name=f"reads{reads:g}",
        warm_up_s=min(WARM_UP_S, run_time_s),
        patience_s=TIMEOUT_S,
        options={
            "posts-per-s": f"{posts:g}",
            "reads-per-s": f"{operations - posts:g}",
            "deep-share": f"{options.own.get('deep_share', DEEP_SHARE):g}",
            "cold-share": f"{options.own.get('cold_share', 0.0):g}",
        },
        optional=reads not in READS_PER_POST,
    )


def social_load(options: RunOptions) -> Load:
    load = fanout.load(options._replace(run_time_s=options.run_time_s or RUN_TIME_S))
    return replace(
        load,
        users=options.users or OPERATIONS_PER_S,
        name=SOCIAL,
        locustfile="locustfiles/mixed.py",
        counted=(),
        options={name: value for name, value in load.options.items() if name != "visible-share"},
        optional=True,
    )


def loads(options: RunOptions) -> list[Load]:
    """Return the usual loads, others that are asked for (reads0.5, holds10), and ``social``."""
    usual = [load_of(reads, options) for reads in READS_PER_POST]
    known = [SOCIAL, *(load.name for load in usual)]
    others = [name.strip() for name in (options.loads or "").split(",")]
    named = [_named(name, options) for name in others if name not in known]
    return [*usual, *filter(None, named), social_load(options)]


def _named(name: str, options: RunOptions) -> Load | None:
    """Return the load that a name spells; None if it spells none."""
    if step := SEARCHED.fullmatch(name):
        options, reads = options._replace(users=int(step[2])), reads_per_post(step[1])
    else:
        reads = reads_per_post(name.replace("holds", "reads", 1))
    return None if reads is None else replace(load_of(reads, options), name=name, optional=True)


def next_load(
    loads: Sequence[Load], variant: Variant, options: RunOptions, results: Sequence[Result]
) -> Load | None:
    """Return the next load, or the next step of a search (holds10), which is run alone."""
    search = HOLDS.fullmatch(options.loads or "")
    if search is None:
        return in_turn(loads, variant, options, results)

    def load_at(rate: int) -> Load:
        load = load_of(float(search[1]), options._replace(users=rate))
        return replace(load, name=f"{load.name}at{rate}")

    return next_step(variant, options, results, load_at, OPERATIONS_PER_S)


def search_crossover(
    variants: Sequence[Variant], options: RunOptions, results: Mapping[str, Sequence[Result]]
) -> list[tuple[Variant, Load]]:
    """Return pull and a push under the load between those next to the crossover."""
    measured = curves([result for of_one in results.values() for result in of_one])
    known = {variant.name: variant for variant in variants if variant.name in measured}
    pull, found = push_or_pull(known, measured)
    if options.loads or pull is None or not isinstance(found, Bracket) or found.is_narrow:
        return []
    if len(results[pull]) - len(READS_PER_POST) >= MOST_STEPS:
        return []
    load = load_of(found.middle, options)
    return [(known[pull], load), (known[found.push], load)]


def conclude(measured: Measured) -> None:
    fanout.conclude(measured)
    result = measured.result
    names = [request.name for request in measured.requests.succeeded]
    posts, operations = names.count(POST), len(names)
    used_s = [result.cpu_s.get(role, 0.0) for role in ROLES]
    result.extra |= {"posts": float(posts), "reads": float(operations - posts)}
    if operations and None not in used_s:
        result.extra["cpu_ms"] = sum(filter(None, used_s)) * 1000 / operations
    if result.balance:
        result.balance.accepted = posts
    if SEARCHED.fullmatch(measured.load.name):
        judge(measured)
    if not steady(result):
        result.errors.append("the backlog grew in the window: part of its work came later")


EXPERIMENT = Experiment(
    name="mixed",
    variants=(  # all have the same cache of posts, or the table would compare caches
        "mysql_tuned-pull@redis",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-log",
        "mysql_tuned-outbox-setbased@redis",
        "mysql_tuned-inline-setbased@redis",
    ),
    variant=fanout.variant,
    watches=True,
    seeding=(("seed_posts", f"--each={POSTS_BEFORE}", "--days=1"),),
    loads=loads,
    next_load=next_load,
    afterwards=search_crossover,
    conclude=conclude,
    presentation=PRESENTATION,
    options={
        "deep_share": f"share of the visits that go on to the fifth page ({DEEP_SHARE:g})",
        "cold_share": "share of the people who never come (0)",
    },
    drain_within_s=60,
)
