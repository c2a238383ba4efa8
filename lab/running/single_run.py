"""One run of one variant, from an empty folder to a result."""

import os
import shutil
import sys
import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.progress import console, stage
from lab.results import figures, laws
from lab.results.requests import Requests, read_requests
from lab.results.result import Result
from lab.running.load import INTERRUPTED, Load, OpenLoad, adapted, as_arguments
from lab.running.machine import Shortage, describe
from lab.running.sampler import Sampler
from lab.running.screens import watching
from lab.systems.variants import OutsideVariant
from launch.hosts import processes_for
from launch.ports import claimed
from launch.processes import RunFailed
from launch.service import Service
from launch.variants import Variant

LATENCIES = ("mean", "p50", "p95", "p99", "max")
ROLES = (
    "web",
    "workers",
    "database",
    "redis",
    "broker",
    "proxy",
    "stream",
    "collector",
    "readers",
    "locust",
    "lab",
)
SATURATED = 0.9
"""Locust has one thread. If that is busy, or waits for a core, for more of the time than this, the
generator is the limit: requests that are answered wait for it to notice."""


def service_for(variant: Variant) -> type[Service]:
    """Return the class that runs a variant."""
    found: type[Service] = resolve_name(variant.service)
    return found


@contextmanager
def serving(
    experiment: Experiment,
    variant: Variant,
    options: RunOptions,
    *,
    logs: Path | None = None,
    port: int | None = None,
) -> Iterator[Service]:
    """Start a variant with an experiment's people; all of it, and its files, end with the block."""
    with (
        TemporaryDirectory(prefix="lab-") as scratch,
        processes_for(variant, logs or Path(scratch) / "logs") as processes,
    ):
        service = service_for(variant)(
            variant, processes, Path(scratch), servers=options.servers, port=port
        )
        with stage("migrate and seed"):
            service.prepare(options.seed, experiment.seeding)
        with stage("start"):
            service.start()
        yield service


def command(experiment: str, variant: Variant, load: Load, options: RunOptions) -> str:
    """Return the command that repeats the run of a variant under a load."""
    arguments = {
        "variants": variant.name,
        **({"loads": load.name} if load.name else {}),
        "users": load.users,
        "run-time": f"{load.run_time_s}s",
        **({"arrivals": load.arrivals} if load.arrivals != INTERRUPTED else {}),
        "servers": options.servers,
        "drain-within": f"{options.drain_within_s}s",
        **{name.replace("_", "-"): f"{value:g}" for name, value in options.own.items()},
        **options.seed.arguments(),
        **variant.arguments,
        **({"shared": ""} if options.shared else {}),
    }
    words = " ".join(f"--{name} {value}".strip() for name, value in arguments.items())
    return f"python -m lab run {experiment} {words}"


def run(
    experiment: Experiment,
    variant: Variant,
    load: Load,
    options: RunOptions,
    repeat: int,
    out: Path,
) -> Result:
    """Run a variant under a load and write its result, also that of a run that failed.

    Raises Shortage if the machine runs short of disk or memory; the result is written all the same.
    """
    result = Result(
        experiment=experiment.name,
        variant=variant.name,
        repeat=repeat,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        environment={
            **describe(command(experiment.name, variant, load, options)),
            "settings": variant.environment,
            "durability_given_away": variant.durability_given_away,
            "seed": options.seed.as_description(),
        },
        offered_rps=load.offered_rps,
        load=load.name,
        window_s=load.run_time_s,
    )
    out.mkdir(parents=True, exist_ok=True)
    try:
        _measure(result, experiment, variant, load, options, out)
    except RunFailed as error:
        result.errors.append(str(error))
        if isinstance(error, Shortage):  # printed where it ends all runs
            raise
        console.print(f"  [red]failed:[/red] {error}")
    except KeyboardInterrupt:
        result.errors.append("interrupted")
        raise
    except Exception as error:  # the other variants are worth their runs
        (out / "error.log").write_text(traceback.format_exc())
        console.print(f"  [red]failed:[/red] {error!r}; see {out / 'error.log'}")
        result.errors.append(repr(error))
    finally:
        result.write(out)
    return result


def _watches(experiment: Experiment, variant: Variant) -> bool:
    return experiment.watches and not isinstance(variant, OutsideVariant) and not variant.locustfile


def _measure(
    result: Result,
    experiment: Experiment,
    variant: Variant,
    load: Load,
    options: RunOptions,
    out: Path,
) -> None:
    with (
        serving(experiment, variant, options, logs=out / "logs") as service,
        watching(service) if _watches(experiment, variant) else nullcontext() as screens,
    ):
        result.environment["servers"] = service.versions()
        result.environment["limitations"] = list(service.limitations)
        sampler = Sampler(service.processes)
        with sampler.looking():
            load = experiment.generate(load, service, out, result)
            result.window_s = load.run_time_s
        requests = read_requests(out, load)
        _record_requests(result, requests)
        _record_cpu(result, sampler, requests, service.elsewhere)
        cpu_s = load.run_time_s * result.environment["cpus"]
        result.steal = round(sampler.stolen_s(*requests.window) / cpu_s, 4)
        busy_cores = round(sampler.busy_s(*requests.window) / load.run_time_s, 3)
        result.balance = laws.balance_of(requests, load, None if options.shared else busy_cores)
        experiment.conclude(Measured(service, result, load, requests, out, options, screens))


def _record_requests(result: Result, requests: Requests) -> None:
    result.failures = requests.failures.total()
    result.requests = len(requests.latency_ms) + result.failures
    result.achieved_rps = round(len(requests.latency_ms) / result.window_s, 2)
    result.latency_ms = figures.percentiles(requests.latency_ms, LATENCIES)
    result.latency_quantiles_ms = figures.quantiles(requests.latency_ms)
    answers = ((row.ended_at, row.ms) for row in requests.succeeded)
    result.by_second = figures.by_second(answers, requests.window[0], result.window_s)
    result.routes = {
        name: {
            "requests": len(route.latency_ms) + route.failures.total(),
            "failures": route.failures.total(),
            "latency_ms": figures.percentiles(route.latency_ms, LATENCIES),
        }
        for name, route in sorted(requests.routes.items())
    }
    result.errors += [
        f"{error}: {count} requests" for error, count in requests.failures.most_common()
    ]


def _record_cpu(
    result: Result, sampler: Sampler, requests: Requests, elsewhere: Collection[str]
) -> None:
    """``elsewhere``: the roles whose processes can't be seen."""
    window = requests.window
    cpu_s = {role: round(sampler.cpu_s(role, *window), 2) for role in ROLES}
    memory_mib = {role: round(sampler.memory_mib(role), 1) for role in ROLES}
    unknown = dict.fromkeys(elsewhere)
    result.cpu_s, result.memory_mib = cpu_s | unknown, memory_mib | unknown
    result.generator_saturated = sampler.wanted_s("locust", *window) / result.window_s > SATURATED


def serve(
    experiment: Experiment, variant: Variant, options: RunOptions, *, port: int, tokens: Path
) -> None:
    """Serve a variant until interrupted, and leave its people's tokens in ``tokens``.

    Raises PortTaken before anything is started.
    """
    with claimed(port), serving(experiment, variant, options, port=port) as service:
        tokens.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(service.tokens, tokens)  # with its mode
        print(f"{variant.name} serves {service.url} (docs: {service.url}/v1/docs/)")
        load = adapted(experiment.loads(options)[0], variant)
        # The lean generator has no rates of its own; Locust's users are chosen in its page.
        options_of_load = load.options if isinstance(load, OpenLoad) else {}
        arguments = as_arguments({"host": service.url, "tokens": tokens, **options_of_load})
        print(" ", os.path.relpath(sys.executable), *load.program, *arguments)
        print("Ctrl-C stops it.", flush=True)
        while True:
            service.processes.check("web")
            service.processes.check("workers")
            time.sleep(0.5)
