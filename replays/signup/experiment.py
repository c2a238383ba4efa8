"""Sign-up: a class comes at once, and every password costs a hash."""

import json
from collections.abc import Sequence
from dataclasses import replace

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.progress import stage
from lab.reporting.formats import number, percent
from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    OFFERED,
    P95,
    SUCCESS,
    Column,
    Presentation,
    extra,
)
from lab.results import figures
from lab.results.requests import Request
from lab.results.summary import Summary
from lab.running.load import COOL_DOWN_S, RAMP_S, Load
from launch.service import CORES, Seed
from launch.variants import DATABASES, Variant, refuse_unknown

SIGNUP = "POST /v1/signup/"
TAKEN = "POST /v1/signup/ (taken)"
CONTROL = "POST /v1/posts/"
SIGNUP_SHARE = 0.8
"""Share of the users who sign up; the others are the controls (replays/signup/locustfile.py)."""
IDLE_S = 6
"""Seconds before the rush; the users start during the first of them."""
THREADS = 16
"""Threads per app worker: a hash releases the interpreter."""
PATIENCE_S = 45
WEAK = "pbkdf2_fast"
QUIET = 3
"""Up to this multiple of its idle value the control's p95 counts as fast."""
HASHERS = ("pbkdf2", WEAK, "scrypt", "argon2", "bcrypt")
EXTRAS = {
    "three_commits": {"SIGNUP_ATOMIC": "0"},
    "logged": {"LOG_REQUESTS": "1"},
    "bounded": {"MAX_HASHING": str(max(1, CORES // 2))},
    **{f"pool{size}": {"DB_POOL_SIZE": str(size)} for size in (1, 5, 12, 30)},
}
"""Suffixes of a variant's name, in any order."""
INSTALLED = {
    "DJANGO_SETTINGS_MODULE": "replays.signup.settings",
    "FEED_STRATEGY": "null",  # so that the control, a post, is a single INSERT
}
LOCUSTFILE = "replays/signup/locustfile.py"
SIGNUPS = Column("sign-ups/s", extra("signups_per_s"), spread=True, brief=True)
MAX = Column("max ms", lambda result: result.latency_ms.get("max"))


def variant(name: str) -> Variant:
    chosen, _, rest = name.partition("-")
    hasher, *suffixes = rest.split("-")
    shared = [alias for alias, database in DATABASES.items() if database.files == 1]
    parts = ((chosen, shared), (hasher, HASHERS), *((suffix, EXTRAS) for suffix in suffixes))
    refuse_unknown(name, "database-hasher, and may go on with -extra", *parts)
    settings = INSTALLED | {"PASSWORD_HASHER": hasher}
    for suffix in suffixes:
        settings |= EXTRAS[suffix]
    plain = Variant.plain(name, chosen, settings)
    return replace(plain, database=replace(plain.database, threads=THREADS))


def loads(options: RunOptions) -> list[Load]:
    if options.users or options.run_time_s:
        return [load_of(options.users or 100, options.run_time_s or 10, options)]
    return [
        load_of(10, 10, options, optional=True),
        load_of(100, 10, options),
        load_of(100, 60, options, optional=True),
    ]


def load_of(users: int, run_time_s: int, options: RunOptions, optional: bool = False) -> Load:
    return Load(
        users,
        run_time_s,
        LOCUSTFILE,
        name=f"{users}x{run_time_s}s",
        arrivals=options.arrivals or "closed",
        share=SIGNUP_SHARE,
        counted=(SIGNUP,),
        warm_up_s=0,  # the rush is what is measured
        cool_down_s=IDLE_S + COOL_DOWN_S,
        patience_s=PATIENCE_S,
        options={"rush-after": IDLE_S},
        files=("accepted",),
        optional=optional,
    )


def conclude(measured: Measured) -> None:
    result, service = measured.result, measured.service
    result.extra = _figures(measured)
    service.stop_web()
    with stage("check"):  # when nothing is being written any more
        accepted = f"--accepted={measured.folder / 'accepted.csv'}"
        (env,) = service.environments
        found = service.manage("audit_signups", env, "--json", accepted, ok=(0, 1))
        result.audit = json.loads(found)


def _figures(measured: Measured) -> dict[str, float | None]:
    result, (start, end) = measured.result, measured.requests.window
    requests = measured.requests.rows
    rush = [request for request in requests if start <= request.begun_at < end]
    control = figures.percentiles(_control_ms(requests, start, end), ("mean", "p95"))
    # Between the ramp and the rush.
    idle = figures.percentiles(_control_ms(requests, start - IDLE_S + RAMP_S, start), ("p95",))
    return {
        "signups_per_s": _signups_per_s(rush, start, end),
        "turned_away": measured.requests.failures["status 429"] / max(1, result.requests),
        "taken_mean_ms": result.routes.get(TAKEN, {}).get("latency_ms", {}).get("mean"),
        "control_mean_ms": control["mean"],
        "control_p95_ms": control["p95"],
        "control_idle_p95_ms": idle["p95"],
        "control_times": _ratio(control["p95"], idle["p95"]),
    }


def _signups_per_s(rush: Sequence[Request], start: float, end: float) -> float:
    """Return the rate until the last of those who came within the window was answered."""
    signed_up = [request for request in rush if request.name == SIGNUP and not request.error]
    last = max((request.begun_at + request.ms / 1000 for request in signed_up), default=end)
    return round(len(signed_up) / (max(end, last) - start), 2)


def _control_ms(requests: Sequence[Request], start: float, end: float) -> list[float]:
    control = (request for request in requests if request.name == CONTROL)
    return [request.ms for request in control if start <= request.begun_at < end]


def _ratio(value: float | None, base: float | None) -> float | None:
    return round(value / base, 2) if value is not None and base else None


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


EXPERIMENT = Experiment(
    name="signup",
    variants=(
        "sqlite-pbkdf2",
        "sqlite-argon2",
        *(f"mysql_tuned-{hasher}" for hasher in HASHERS),
        *(f"mysql_tuned-argon2-{extra}" for extra in EXTRAS),
    ),
    variant=variant,
    seed=Seed(people=200, friends=0),
    loads=loads,
    conclude=conclude,
    presentation=Presentation(
        columns=(
            OFFERED,
            SIGNUPS,
            SUCCESS,
            MEAN,
            P95,
            MAX,
            Column("turned away", extra("turned_away"), percent),
            Column("taken mean ms", extra("taken_mean_ms")),
            Column("control mean ms", extra("control_mean_ms")),
            Column("control p95 ms", extra("control_p95_ms")),
            Column("idle p95 ms", extra("control_idle_p95_ms")),
            Column("control / idle", extra("control_times"), brief=True),
            CORES_BUSY,
        ),
        headline=SIGNUPS,
        heading="Sign-ups per second",
        findings=("half_made", "lost"),
        more_is_better=True,
        contrast="That is {ratio} times what {name} answered.",
        limitations=(
            "control: a post that is a single INSERT, from 1 user in 10; idle: before the rush, in "
            "the same run.",
            f"Figures are of what began within the window; what had no answer {PATIENCE_S} s after "
            "it has failed, and counts for the control's times with what it had waited.",
            f"Variants with control / idle up to {QUIET} are ranked first, and {WEAK} last: it is "
            "as fast for an attacker who has the hashes.",
            "A pool is each app worker's own.",
        ),
        lesson="replays/signup/lesson.md",
        praise=_praise,
        ranks_first=_ranks_first,
    ),
)
