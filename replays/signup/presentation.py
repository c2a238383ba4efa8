"""Columns, ranking and published figures of sign-up."""

from lab.reporting.formats import number, percent
from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    OFFERED,
    P95,
    SUCCESS,
    Column,
    Presentation,
    Published,
    extra,
)
from lab.results.summary import Summary

PATIENCE_S = 45
WEAK = "pbkdf2_fast"
QUIET = 3
"""Up to this multiple of its idle value the control's p95 counts as fast."""
SIGNUPS = Column("sign-ups/s", extra("signups_per_s"), spread=True, brief=True)


PUBLISHED = (
    Published("10 users, 10 s", {"mean ms": 629.82, "control mean ms": 76.32}),
    Published(
        "100 users, 10 s",
        {"mean ms": 6_840, "p95 ms": 18_720, "max ms": 26_360, "control mean ms": 448.85},
    ),
    Published("100 users, 10 s, refused without a hash, no log", {"taken mean ms": 183.89}),
    Published("100 users, 30 s, refused without a hash, no log", {"taken mean ms": 372.84}),
    Published("pool of 30, 10 users, 10 s", {"mean ms": 910, "p95 ms": 2_930}),
    Published("pool of 30, 100 users, 10 s", {"mean ms": 7_080, "p95 ms": 25_250}),
    Published("pool of 30, 100 users, 60 s", {"mean ms": 8_850, "p95 ms": 25_250}),
    Published("pool of 30, 100 users, 300 s", {"mean ms": 9_510, "p95 ms": 20_000}),
    Published("100 users, 300 s", {"mean ms": 9_500, "max ms": 29_300}),
    Published("100 users, 300 s, no log", {"mean ms": 9_620, "max ms": 29_400}),
    Published("cheaper hash, 100 users, 10 s", {"mean ms": 450, "p95 ms": 1_070}),
)


def _praise(summary: Summary) -> str:
    rate = summary.median(SIGNUPS.figure)
    mean = summary.median(MEAN.figure)
    times = summary.median(extra("control_times"))
    return (
        f"{summary.name} signed {number(rate)} people up a second, in {number(mean)} ms on "
        f"average, while the p95 of other requests was {number(times)} times its idle value."
    )


def _ranks_first(summary: Summary) -> tuple[float, ...]:
    times = summary.median(extra("control_times"))
    is_weak = summary.variant.settings["PASSWORD_HASHER"] == WEAK
    return is_weak, times is None or times > QUIET


PRESENTATION = Presentation(
    columns=(
        OFFERED,
        SIGNUPS,
        SUCCESS,
        MEAN,
        P95,
        Column("max ms", lambda r: r.latency_ms.get("max")),
        Column("turned away", extra("turned_away"), percent),
        Column("taken mean ms", extra("taken_mean_ms")),
        Column("control mean ms", extra("control_mean_ms")),
        Column("control p95 ms", extra("control_p95_ms")),
        Column("idle p95 ms", extra("control_idle_p95_ms")),
        Column("control / idle", extra("control_times"), brief=True),
        CORES_BUSY,
    ),
    headline=SIGNUPS,
    axis="sign-ups per second",
    findings=("half_made", "lost"),
    more_is_better=True,
    contrast="That is {ratio} times what {name} answered.",
    limitations=(
        "control: a post that is a single INSERT, from 1 user in 10; idle: before the rush, in the "
        "same run.",
        f"Figures are of what began within the window; what had no answer {PATIENCE_S} s after it "
        "has failed, and counts for the control's times with what it had waited.",
        f"Variants with control / idle up to {QUIET} are ranked first, and {WEAK} last: it is as "
        "fast for an attacker who has the hashes.",
        "A pool is each app worker's own.",
    ),
    lesson="replays/signup/lesson.md",
    published=PUBLISHED,
    praise=_praise,
    ranks_first=_ranks_first,
)
