"""Sign-up as it was published: each hypothesis, and everybody does one thing."""

import sys
from dataclasses import dataclass, replace

from lab.experiments.base import RunOptions
from lab.reporting.formats import number
from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    OFFERED,
    P95,
    SUCCESS,
    Column,
    Presentation,
    Published,
)
from lab.results.summary import Summary
from lab.running.load import COOL_DOWN_S, Load
from launch.service import Service
from launch.variants import DATABASES, Variant
from replays.signup import experiment as signup
from replays.signup.experiment import CONTROL, INSTALLED, MAX, SIGNUP, SIGNUPS, TAKEN

PAUSE_S = 1
PATIENCE_S = 30
"""k6's graceful stop, if a script doesn't say otherwise; their longest answers took 29.4 s."""
RUSH_AFTER_S = 3
"""When all users are there; k6 has them all at once."""
THREADS = 100
"""A request for each user, as in one process of Node."""
WHO = {
    "signup": ("NewPerson", SIGNUP),
    "taken": ("Namesake", TAKEN),
    "control": ("Poster", CONTROL),
}
"""The users of the locustfile, and the request that they make."""
LOADS = (
    *(("control", 10, 10), ("control", 100, 10), ("taken", 100, 10), ("taken", 100, 30)),
    *(("signup", 10, 10), ("signup", 100, 10), ("signup", 100, 60), ("signup", 100, 300)),
)
FOUND = INSTALLED | {
    "WEB_WORKERS": "1",
    "PASSWORD_HASHER": "argon2_costly",
    "SIGNUP_ATOMIC": "0",
    "LOG_REQUESTS": "1",
    "DB_POOL_SIZE": "5",
    "DB_POOL_TIMEOUT_S": "60",
    "DB_READ_TIMEOUT_S": "60",
}
LARGEST = {"DB_POOL_SIZE": "30"}
STEPS: dict[str, dict[str, str]] = {
    "as_found": {},
    "no_log": {"LOG_REQUESTS": "0"},
    "log_collector": {},
    "pool12": {"DB_POOL_SIZE": "12"},
    "pool30": LARGEST,
    "transaction": LARGEST | {"SIGNUP_ATOMIC": "1"},
    "cheap_hash": LARGEST | {"SIGNUP_ATOMIC": "1", "PASSWORD_HASHER": "argon2_cheap"},
}
OURS = ("mysql_tuned-argon2", "mysql_tuned-argon2-bounded")

ANSWERED = Column("requests/s", lambda r: r.requests / r.window_s if r.window_s else None)
PUBLISHED = (
    Published("as found, control-10x10s", {"mean ms": 76.32}),
    Published("as found, control-100x10s", {"mean ms": 448.85, "max ms": 3_210}),
    Published("no log, taken-100x10s", {"mean ms": 183.89}),
    Published("no log, taken-100x30s", {"mean ms": 372.84}),
    Published("as found, signup-10x10s", {"mean ms": 629.82}),
    Published("as found, signup-100x10s", {"mean ms": 6_840, "p95 ms": 18_720, "max ms": 26_360}),
    Published("as found, signup-100x300s", {"mean ms": 9_500, "max ms": 29_300}),
    Published("no log, signup-100x300s", {"mean ms": 9_620, "max ms": 29_400}),
    Published("pool of 30, signup-10x10s", {"mean ms": 910, "p95 ms": 2_930}),
    Published("pool of 30, signup-100x10s", {"mean ms": 7_080, "p95 ms": 25_250}),
    Published("pool of 30, signup-100x60s", {"mean ms": 8_850, "p95 ms": 25_250}),
    Published("pool of 30, signup-100x300s", {"mean ms": 9_510, "p95 ms": 20_000}),
    Published("cheaper hash, signup-100x10s", {"mean ms": 450, "p95 ms": 1_070}),
)


@dataclass(frozen=True)
class CollectedVariant(Variant):
    service = "replays.signup.published.CollectedService"


class CollectedService(Service):
    """Beside it a process parses every line of its log."""

    def start(self) -> None:
        super().start()
        log = str(self.processes.logs / "web.log")
        command = [sys.executable, "-m", "replays.signup.collector", log]
        self.processes.start("collector", command, {})


def _praise(summary: Summary) -> str:
    return f"{summary.name} answered after {number(summary.median(MEAN.figure))} ms on average."


def _ranks_first(summary: Summary) -> tuple[float, ...]:
    """A hash that is cheap for an attacker too isn't advised; who turns people away isn't quick."""
    is_cheap = summary.variant.name == "cheap_hash"
    return is_cheap, -round(summary.median(SUCCESS.figure) or 0.0, 2)


def variant(name: str) -> Variant:
    if name not in STEPS:
        return signup.variant(name)
    kind = CollectedVariant if name == "log_collector" else Variant
    plain = kind.plain(name, "mysql_tuned", FOUND | STEPS[name])
    return replace(plain, database=replace(DATABASES["mysql_tuned"], threads=THREADS))


def loads(options: RunOptions) -> list[Load]:
    return [_load(*load, options) for load in LOADS]


def _load(who: str, users: int, run_time_s: int, options: RunOptions) -> Load:
    user_class, counted = WHO[who]
    count = options.users or users
    return replace(
        signup.load_of(count, options.run_time_s or run_time_s, options),
        name=f"{who}-{users}x{run_time_s}s",
        arrivals=options.arrivals or "paused",
        pace_s=PAUSE_S,
        share=1.0,
        classes=(user_class,),
        counted=(counted,),
        cool_down_s=RUSH_AFTER_S + COOL_DOWN_S,
        patience_s=PATIENCE_S,
        options={"rush-after": RUSH_AFTER_S, "spawn-rate": count},
    )


EXPERIMENT = replace(
    signup.EXPERIMENT,
    name="published-000",
    document="Taehoon Kim (Skkuding): finding and removing bottlenecks by load tests",
    variants=(*STEPS, *OURS),
    variant=variant,
    loads=loads,
    presentation=Presentation(
        columns=(
            OFFERED,
            ANSWERED,
            SIGNUPS,
            SUCCESS,
            MEAN,
            P95._replace(brief=True),
            MAX,
            CORES_BUSY,
        ),
        headline=MEAN,
        heading="Mean of a request, ms",
        findings=signup.EXPERIMENT.presentation.findings,
        contrast="{name} takes {ratio} times as long.",
        limitations=(
            "Their script is not in the document. That users pause for a second after each answer "
            "follows from its 723 requests of the control, mean 448.85 ms: 100 users * 10 s / "
            "1.449 s is 690, and one request a second would be 1,000.",
            "Their times are of failed requests too, ours of those that succeeded; a refusal that "
            "is asked for (taken) is a success. What had no answer 30 s after the load has failed.",
            "Their hash is not in the document. Their public source has Argon2 with 2 MiB, 2 "
            "passes and 1 lane (cheap_hash); argon2_costly is what the same package takes without "
            "that. cheap_hash is ranked last: it is as cheap for an attacker who has the hashes.",
            "Of pools they tried two: the default, and 30. 5 and 12 were connections in use. "
            "Theirs was free while a password was hashed; here a request keeps its connection, so "
            "a pool also bounds how many passwords are hashed at once.",
            "Node on a managed PostgreSQL there, Django on MariaDB or MySQL here.",
        ),
        lesson=signup.EXPERIMENT.presentation.lesson,
        published=PUBLISHED,
        praise=_praise,
        ranks_first=_ranks_first,
    ),
)
