"""Faults: what is lost, shown wrong, refused or late when a part of the service fails."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.faults import figures
from lab.experiments.faults.presentation import PRESENTATION
from lab.faults.catalogue import FAULTS
from lab.faults.fault import on_hosts
from lab.faults.moments import CLIENTS, Seen, observe
from lab.faults.running import SEED, Running, audit_pages
from lab.faults.streams import streams
from lab.progress import console, stage
from lab.results import laws
from lab.results.result import Result
from lab.running.load import INTERRUPTED, Load
from launch.processes import RunFailed
from launch.service import Service
from launch.variants import Part, Variant

MOMENTS = 3
CONTROL_MOMENTS = 10
"""Most moments of a control, which ends with the first that does harm: not every moment does."""
MOMENT_S = 8
"""Estimated time of one."""
SWEEPING = {"FEED_GRACE_S": "1"}
"""So that posts that a dead worker or request left are found within the time of a moment."""
GUARDED = {"DJANGO_SETTINGS_MODULE": "lab.faults.unguarded.guarded"}
PLANTED = {"DJANGO_SETTINGS_MODULE": "lab.faults.unguarded.settings"}


def _unguarded(variant: Variant, _: str) -> Variant:
    return replace(variant, is_control=True, settings={**variant.settings, **PLANTED})


PARTS = {"unguarded": Part("the control: a safeguard of each fault is missing", _unguarded)}


@dataclass(frozen=True)
class Moments(Load):
    """Clients who post and readers who compare, for as long as the moments of a fault take."""

    moments: int = MOMENTS


def variant(name: str) -> Variant:
    """Return a variant; the part ``unguarded`` makes it a control."""
    found = Variant.named(name, PARTS)
    return replace(found, settings={**SWEEPING, **GUARDED, **found.settings})


def loads(options: RunOptions) -> list[Load]:
    moments = max(1, round(options.own.get("moments", MOMENTS)))
    return [
        Moments(
            options.users or CLIENTS,
            moments * MOMENT_S,
            "locustfiles/fanout.py",  # of ``lab up`` only
            name=fault.name,
            arrivals=INTERRUPTED,
            counted=("POST /v1/posts/",),
            warm_up_s=0,
            cool_down_s=0,
            moments=moments,
        )
        for fault in FAULTS.values()
    ]


def suits(variant: Variant, load: Load) -> bool:
    fault = FAULTS[load.name]
    if variant.is_control and not fault.has_control(variant):
        return False
    is_tried_without = any(
        need(variant) and need not in fault.needs for need in (on_hosts, streams)
    )
    if is_tried_without or not fault.suits(variant):
        return False
    if reason := fault.unavailable():
        console.print(f"[yellow]{fault.name} is left out:[/yellow] {reason}")
    return reason is None


def generate(load: Load, service: Service, folder: Path, _: Result) -> Load:
    if service.elsewhere:
        raise RunFailed("faults need servers that the laboratory has started itself")
    assert isinstance(load, Moments)
    running, fault, began = Running(service), FAULTS[load.name], time.monotonic()
    is_control = service.variant.is_control
    if is_control:
        running.lack(fault.safeguard)
    with stage(f"{fault.name}: {fault.text}") as advance:
        observe(
            fault,
            running,
            folder,
            moments=CONTROL_MOMENTS if is_control else load.moments,
            until_harm=is_control,
            clients=load.users,
            advance=advance,
        )
    return replace(load, run_time_s=max(1, round(time.monotonic() - began)))


def conclude(measured: Measured) -> None:
    with stage("audit"):
        audit = audit_pages(measured.service, measured.service.folder / "accepted.csv")
    seen, fault = Seen.read(measured.folder), FAULTS[measured.load.name]
    result, is_control = measured.result, measured.service.variant.is_control
    is_busy = not is_control and (result.shared or any(laws.utilisation(result)))
    result.audit = figures.audit_of(seen, audit, fault, is_busy=is_busy)
    result.extra |= figures.as_extra(seen)


EXPERIMENT = Experiment(
    name="faults",
    variants=(
        "mysql_tuned-outbox-ring",
        "mysql_tuned-inline-ring",
        "mysql_tuned-outbox-ring@cluster3",
        "postgres_default-outbox-ring",
        "mysql_tuned-task-setbased",
        "mysql_tuned-task-setbased@rabbitmq",
        "mysql_tuned-outbox-ring@unguarded",
        "mysql_tuned-inline-ring@unguarded",
        "postgres_default-outbox-ring@unguarded",
        "mysql_tuned-outbox-ring@cluster3+unguarded",
        "mysql_tuned-outbox-ring@cluster3+hosts",
        "mysql_tuned-outbox-ring@stream",
        "mysql_tuned-outbox-ring@stream+unguarded",
        "mysql_tuned-task-setbased@unguarded",
        "mysql_tuned-task-setbased@rabbitmq+unguarded",
    ),
    variant=variant,
    seed=SEED,
    loads=loads,
    suits=suits,
    generate=generate,
    conclude=conclude,
    presentation=PRESENTATION,
    options={"moments": f"at which a fault is injected ({MOMENTS})"},
    around_s=20,
)
