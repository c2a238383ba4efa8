"""What a queue promises: tasks that are lost, doubled or stuck when nobody asks for receipts."""

import time
from dataclasses import replace
from pathlib import Path

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.promises import bare
from lab.experiments.promises.presentation import PRESENTATION
from lab.faults.moments import write_requests
from lab.faults.running import SEED, Running
from lab.progress import stage
from lab.results.result import Result
from lab.running.load import INTERRUPTED, Load
from launch.processes import RunFailed
from launch.service import Service
from launch.variants import Variant

MOMENT_S = 8
"""Estimated time of one."""


def variant(name: str) -> Variant:
    """Return the variant that a name spells, with a bare queue."""
    found = Variant.named(name)
    return replace(found, settings={**found.settings, **bare.SETTINGS})


def loads(options: RunOptions) -> list[Load]:
    return [
        Load(
            options.users or bare.CLIENTS,
            fault.times * MOMENT_S,
            "locustfiles/fanout.py",  # of ``lab up`` only
            name=name,
            arrivals=INTERRUPTED,
            warm_up_s=0,
            cool_down_s=0,
        )
        for name, fault in bare.FAULTS.items()
    ]


def generate(load: Load, service: Service, folder: Path, result: Result) -> Load:
    """Let posts be accepted and a fault happen; record what became of their tasks."""
    if service.elsewhere:
        raise RunFailed("faults need servers that the laboratory has started itself")
    running, began, fault = Running(service), time.monotonic(), bare.FAULTS[load.name]
    with stage(f"{load.name}: {fault.text}") as advance:
        result.extra |= bare.observe(running, fault, advance, clients=load.users)
    write_requests(running.answers, folder)
    return replace(load, run_time_s=max(1, round(time.monotonic() - began)))


def conclude(measured: Measured) -> None:
    """Judge nothing: there are no deliveries to audit."""
    measured.result.audit = {"ok": True, "expected": 0}


EXPERIMENT = Experiment(
    name="promises",
    variants=(
        "mysql_tuned-task-setbased@celery",
        "mysql_tuned-task-setbased@celery+aof",
        "mysql_tuned-task-setbased@celery+rabbitmq",
        "mysql_tuned-task-setbased@celery_default",
        "mysql_tuned-task-setbased@celery_default+rabbitmq",
        "mysql_tuned-task-setbased@dramatiq",
        "mysql_tuned-task-setbased@dramatiq+rabbitmq",
        "mysql_tuned-task-setbased@dramatiq_default",
        "mysql_tuned-task-setbased@dramatiq_default+rabbitmq",
        "mysql_tuned-task-setbased@huey",
        "mysql_tuned-task-setbased@huey_default",
        "mysql_tuned-task-setbased@django_tasks",
        "postgres_tuned-task-setbased@procrastinate",
        "postgres_tuned-task-setbased@procrastinate_default",
    ),
    variant=variant,
    seed=SEED,
    loads=loads,
    generate=generate,
    conclude=conclude,
    presentation=PRESENTATION,
    around_s=60,
)
