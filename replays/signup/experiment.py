"""Sign-up: a class comes at once, and every password costs a hash."""

import json
from collections.abc import Sequence
from dataclasses import replace

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.progress import stage
from lab.results import figures
from lab.results.requests import Request
from lab.running.load import COOL_DOWN_S, RAMP_S, Load
from launch.service import CORES, Seed
from launch.variants import DATABASES, Variant, refuse_unknown
from replays.signup.presentation import PATIENCE_S, PRESENTATION, WEAK

SIGNUP = "POST /v1/signup/"
TAKEN = "POST /v1/signup/ (taken)"
CONTROL = "POST /v1/posts/"
SIGNUP_SHARE = 0.8
"""Share of the users who sign up; the others are the controls (replays/signup/locustfile.py)."""
IDLE_S = 6
"""Seconds before the rush; the users start during the first of them."""
THREADS = 16
"""Threads per app worker: a hash releases the interpreter."""
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


def variant(name: str) -> Variant:
    database, _, rest = name.partition("-")
    hasher, *extras = rest.split("-")
    shared = [alias for alias, it in DATABASES.items() if it.files == 1]
    parts = ((database, shared), (hasher, HASHERS), *((extra, EXTRAS) for extra in extras))
    refuse_unknown(name, "database-hasher, and may go on with -extra", *parts)
    settings = INSTALLED | {"PASSWORD_HASHER": hasher}
    for extra in extras:
        settings |= EXTRAS[extra]
    plain = Variant.plain(name, database, settings)
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
    with stage("check"):
        result.audit = _check(measured)


def _figures(measured: Measured) -> dict[str, float | None]:
    result, (start, end) = measured.result, measured.requests.window
    requests = measured.requests.rows
    rush = [it for it in requests if start <= it.begun_at < end]
    control = figures.percentiles([it.ms for it in rush if it.name == CONTROL], ("mean", "p95"))
    idle = figures.percentiles(_idle_ms(requests, start), ("p95",))["p95"]
    return {
        "signups_per_s": _signups_per_s(rush, start, end),
        "turned_away": measured.requests.failures["status 429"] / max(1, result.requests),
        "taken_mean_ms": result.routes.get(TAKEN, {}).get("latency_ms", {}).get("mean"),
        "control_mean_ms": control["mean"],
        "control_p95_ms": control["p95"],
        "control_idle_p95_ms": idle,
        "control_times": _ratio(control["p95"], idle),
    }


def _signups_per_s(rush: Sequence[Request], start: float, end: float) -> float:
    """Return the rate until the last of those who came within the window was answered."""
    signed_up = [it for it in rush if it.name == SIGNUP and not it.error]
    last = max((it.begun_at + it.ms / 1000 for it in signed_up), default=end)
    return round(len(signed_up) / (max(end, last) - start), 2)


def _idle_ms(requests: Sequence[Request], rush_at: float) -> list[float]:
    """Return the times of the control's requests between the ramp and the rush."""
    since = rush_at - IDLE_S + RAMP_S
    return [it.ms for it in requests if it.name == CONTROL and since <= it.begun_at < rush_at]


def _ratio(value: float | None, base: float | None) -> float | None:
    return round(value / base, 2) if value is not None and base else None


def _check(measured: Measured) -> dict[str, int]:
    """Look for the half-made and the lost, when nothing is being written any more."""
    service = measured.service
    accepted = f"--accepted={measured.folder / 'accepted.csv'}"
    (env,) = service.environments
    found: dict[str, int] = json.loads(
        service.manage("audit_signups", env, "--json", accepted, ok=(0, 1))
    )
    return found


EXPERIMENT = Experiment(
    name="signup",
    variants=(
        "sqlite-pbkdf2",
        "sqlite-argon2",
        *(f"mysql_tuned-{hasher}" for hasher in HASHERS),
        *(f"mysql_tuned-argon2-{extra}" for extra in EXTRAS),
    ),
    variant=variant,
    locustfile=LOCUSTFILE,
    seed=Seed(people=200, friends=0),
    loads=loads,
    conclude=conclude,
    presentation=PRESENTATION,
)
