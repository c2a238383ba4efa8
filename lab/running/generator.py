"""The load generator of a run: a process of its own."""

import subprocess
from dataclasses import replace
from pathlib import Path

from lab.progress import stage
from lab.running.load import Load
from lab.running.resources import check_resources
from launch.processes import RunFailed
from launch.service import Service
from launch.variants import Variant


def generate(load: Load, service: Service, out: Path) -> None:
    """Run Locust to its end. Raises RunFailed if it fails, or an app server ends."""
    command = _asked_of(service.variant, load).locust(service.url, service.tokens, out)
    with stage(f"load: {load.users} users", load.seconds) as advance:
        locust = service.processes.start("locust", command, {})
        while _still_running(locust):
            service.processes.check("web")
            check_resources(service.folder)
            advance()
    if locust.returncode != 0:
        raise RunFailed(
            f"locust ended with {locust.returncode}: {service.processes.log_tail('locust')}"
        )


def _asked_of(variant: Variant, load: Load) -> Load:
    if variant.locustfile:
        return replace(load, locustfile=variant.locustfile, options=variant.options)
    return replace(load, options={**load.options, **variant.options})


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return True
    return False
