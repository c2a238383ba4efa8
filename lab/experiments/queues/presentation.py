"""Columns of task queues: what a message costs."""

from lab.experiments.fanout.presentation import AUDIT, LAG_ENDS, LAG_P50, LAG_P99
from lab.reporting.formats import measured
from lab.reporting.presentation import CORES_BUSY, CPU, P99, SUCCESS, Column, Presentation
from lab.results.result import Figure, Result

BROKERS = ("redis", "broker")
"""Roles that have messages and nothing else."""


def ms_per_post(*roles: str) -> Figure:
    """Return the CPU time of roles for each post of the window, in ms."""

    def figure(result: Result) -> float | None:
        posts = (result.achieved_rps or 0.0) * result.window_s
        used = [result.cpu_s.get(role) for role in roles]
        return sum(s or 0.0 for s in used) * 1000 / posts if posts and None not in used else None

    return figure


def idle_ms(result: Result) -> float | None:
    """Return the CPU time of workers and servers while nothing is to do, in ms per second."""
    used = [result.extra.get(f"idle_{role}") for role in ("workers", "database", *BROKERS)]
    known = [ms for ms in used if ms is not None]
    return sum(known) if known else None


COST = Column(
    "ms/post",
    ms_per_post("web", "workers", "database", *BROKERS),
    measured,
    spread=True,
    brief=True,
)
PRESENTATION = Presentation(
    columns=(
        SUCCESS,
        P99,
        LAG_P50._replace(brief=True),
        LAG_P99,
        COST,
        Column("web ms", ms_per_post("web"), measured),
        Column("workers ms", ms_per_post("workers"), measured),
        Column("broker ms", ms_per_post(*BROKERS), measured),
        Column("database ms", ms_per_post("database"), measured),
        Column("idle ms/s", idle_ms, measured, brief=True),
        CORES_BUSY,
    ),
    headline=COST,
    heading="CPU of the whole service for a post, in ms",
    contrast="{name} needs {ratio} times as much.",
    findings=AUDIT,
    pictures=(CPU,),
    limitations=(
        "A post goes to 50 friends, unless --friends says another number: its deliveries are in "
        "what it costs, and the same for all queues of a strategy and a database.",
        "Not measured: priorities, schedules, monitoring, and the people who answer questions.",
        LAG_ENDS,
    ),
)
