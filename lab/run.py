"""One run of one variant, from an empty folder to a result."""

import subprocess
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from lab import environment, measure
from lab.load import Load, Requests, read_requests
from lab.processes import Processes, RunFailed
from lab.progress import console, stage
from lab.resources import Shortage, check_resources
from lab.result import Result
from lab.sampler import Sampler
from lab.service import Receipt, Seed, Service
from lab.variants import Variant

ROLES = ("web", "workers", "database", "redis", "broker", "locust")
SATURATED = 0.9
"""Locust has one thread. If that is busy, or waits for a core, for more of the time than this, the
generator is the limit: requests that are answered wait for it to notice."""


@dataclass(frozen=True)
class Plan:
    """What all runs of an experiment share."""

    experiment: str
    load: Load
    seed: Seed
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""

    def command(self, variant: Variant) -> str:
        """Return what repeats the run of a variant."""
        options = {
            "variants": variant.name,
            "users": self.load.users,
            "run-time": f"{self.load.run_time_s}s",
            "arrivals": self.load.arrivals,
            "servers": self.servers,
            "drain-within": f"{self.drain_within_s}s",
            **self.seed._asdict(),
        }
        words = " ".join(f"--{name} {value}" for name, value in options.items())
        return f"python -m lab run {self.experiment} {words}"


def run(plan: Plan, variant: Variant, repeat: int, out: Path) -> Result:
    """Run a variant and write its result, also that of a run that failed.

    Raises Shortage if the machine runs short of disk or memory; the result is written all the same.
    """
    result = Result(
        experiment=plan.experiment,
        variant=variant.name,
        repeat=repeat,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        environment=environment.describe(variant, plan.command(variant)),
        offered_rps=plan.load.offered_rps,
        window_s=plan.load.run_time_s,
    )
    out.mkdir(parents=True, exist_ok=True)
    try:
        _measure(result, variant, plan, out)
    except RunFailed as error:
        console.print(f"  [red]failed:[/red] {error}")
        result.errors.append(str(error))
        if isinstance(error, Shortage):
            raise
    except KeyboardInterrupt:
        result.errors.append("interrupted")
        raise
    finally:
        result.write(out)
    return result


def _measure(result: Result, variant: Variant, plan: Plan, out: Path) -> None:
    load = plan.load
    with TemporaryDirectory(prefix="lab-") as scratch, Processes(out / "logs") as processes:
        service = Service(variant, processes, Path(scratch), servers=plan.servers)
        with stage("migrate and seed"):
            service.prepare(plan.seed)
        with stage("start"):
            service.start()
        result.environment["servers"] = service.versions()
        with Sampler(processes) as sampler:
            _generate(load, service, processes, out)
        service.stop_web()
        if variant.delivers:
            _drain(service, plan.drain_within_s, result)
        service.stop_workers()
        receipts = service.receipts()
        requests = read_requests(out / "requests.csv", load.run_time_s)
        _record_requests(result, requests, load.run_time_s)
        _record_receipts(result, receipts, requests, load.run_time_s)
        _record_cpu(result, sampler, requests)
        with stage("audit"):
            result.audit = service.audit(out / "accepted.csv")


def _generate(load: Load, service: Service, processes: Processes, out: Path) -> None:
    command = load.locust(service.url, service.tokens, out)
    with stage(f"load: {load.users} users", load.seconds) as advance:
        locust = processes.start("locust", command, {})
        while _still_running(locust):
            processes.check("web")
            check_resources(service.folder)
            advance()
    if locust.returncode != 0:
        raise RunFailed(f"locust ended with {locust.returncode}: {processes.log_tail('locust')}")


def _drain(service: Service, within_s: int, result: Result) -> None:
    """Wait for as long as deliveries are being made; the published way takes many minutes."""
    give_up_at = time.monotonic() + within_s
    with stage("drain") as advance, closing(service.drain()) as backlogs:
        for backlog in backlogs:
            check_resources(service.folder)
            advance(f"drain: {backlog:,} posts left")
            if backlog and time.monotonic() > give_up_at:
                result.errors.append(f"not drained within {within_s} s: {backlog:,} posts left")
                break


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return True
    return False


def _record_requests(result: Result, requests: Requests, run_time_s: int) -> None:
    result.failures = requests.failures.total()
    result.requests = len(requests.latency_ms) + result.failures
    result.achieved_rps = round(len(requests.latency_ms) / run_time_s, 2)
    names = ("mean", "p50", "p95", "p99", "max")
    result.latency_ms = measure.percentiles(requests.latency_ms, names)
    result.latency_quantiles_ms = measure.quantiles(requests.latency_ms)
    result.errors += [
        f"{error}: {count} requests" for error, count in requests.failures.most_common()
    ]


def _record_receipts(
    result: Result, receipts: list[Receipt], requests: Requests, run_time_s: int
) -> None:
    window = (requests.start, requests.end)
    result.lag_ms = measure.percentiles(
        measure.lag_ms(receipts, *window), ("p50", "p95", "p99", "max")
    )
    result.deliveries = measure.deliveries(receipts, *window)
    result.deliveries_per_s = round(result.deliveries / run_time_s, 1)
    result.backlog = measure.backlog(receipts, requests.start)
    result.drain_s = measure.drain_s(receipts)


def _record_cpu(result: Result, sampler: Sampler, requests: Requests) -> None:
    window = (requests.start, requests.end)
    result.cpu_s = {role: round(sampler.cpu_s(role, *window), 2) for role in ROLES}
    result.memory_mib = {role: round(sampler.memory_mib(role), 1) for role in ROLES}
    service_s = sum(used for role, used in result.cpu_s.items() if role != "locust")
    if result.deliveries:
        result.cpu_s_per_million_deliveries = round(service_s / result.deliveries * 1e6, 2)
    busy = sampler.wanted_s("locust", *window) / (requests.end - requests.start)
    result.generator_saturated = busy > SATURATED


def serve(variant: Variant, *, seed: Seed, servers: str, port: int, tokens: Path) -> None:
    """Serve a variant until interrupted, and leave its people's tokens in ``tokens``."""
    with (
        TemporaryDirectory(prefix="lab-") as scratch,
        Processes(Path(scratch) / "logs") as processes,
    ):
        service = Service(variant, processes, Path(scratch), servers=servers, port=port)
        with stage("migrate and seed"):
            service.prepare(seed)
        service.start()
        tokens.parent.mkdir(parents=True, exist_ok=True)
        tokens.write_bytes(service.tokens.read_bytes())
        print(f"{variant.name} serves {service.url} (docs: {service.url}/v1/docs/)")
        print(f"  locust -f locustfiles/fanout.py --host {service.url} --tokens {tokens}")
        print("Ctrl-C stops it.", flush=True)
        while True:
            processes.check("web")
            processes.check("workers")
            time.sleep(0.5)
