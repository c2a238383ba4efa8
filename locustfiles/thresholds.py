"""The verdict of a headless run: its limits, the last line (PASS or FAIL), and its exit code."""

import logging
import math
from array import array
from collections import Counter
from collections.abc import Callable
from typing import Any

from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import LocalRunner, WorkerRunner
from locust.stats import StatsEntry, calculate_response_time_percentile

logger = logging.getLogger(__name__)

NO_REQUEST = "FEED"
"""Type of records that are not requests, such as "time to visible"."""


def add_arguments(parser: LocustArgumentParser) -> None:
    p99 = "exit with 1 if the p99 of all requests is above this"
    ratio = "exit with 1 if a larger share of the requests fails; 0 to 1"
    # The web UI loses names that contain a digit.
    parser.add_argument("--fail-p99-ms", dest="fail_latency_ms", type=float, help=p99)
    parser.add_argument("--fail-ratio", type=float, help=ratio)


class Verdict:
    """The result of limits and audit. A worker leaves the last line to its master."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._reasons: list[str] = []
        self._notes: list[str] = []
        options: Any = environment.parsed_options
        if options.headless and not isinstance(environment.runner, WorkerRunner):
            environment.events.quit.add_listener(self._print)

    def fail(self, reason: str) -> None:
        """Record why the run failed; its exit code becomes 1."""
        logger.error(reason)
        self._reasons.append(reason)
        self._environment.process_exit_code = 1

    def note(self, result: str) -> None:
        """Record a result for the last line."""
        self._notes.append(result)

    def limit(
        self,
        option: str,
        name: str,
        figure: Callable[[], float | None],
        meaning: str,
        unit: str = "",
    ) -> None:
        """Fail the run when Locust ends if a figure is above a limit, or if there is none.

        ``name``: of the limit among the options. A worker leaves it to its master.
        """

        def judge(**kwargs: Any) -> None:
            # Read late: the web UI may change it, and gives a text, which is empty for no limit.
            value: float | str | None = getattr(self._environment.parsed_options, name)
            if value is None or value == "":
                return
            limit, found = float(value), figure()
            broken = f"{option} {limit:g} is broken:"
            if found is None:
                self.fail(f"{broken} there is no figure to judge by ({meaning})")
            elif found > limit:
                self.fail(f"{broken} {meaning} is {found:.4g}{unit}")

        if not isinstance(self._environment.runner, WorkerRunner):
            self._environment.events.quitting.add_listener(judge)

    def _print(self, exit_code: int, **kwargs: Any) -> None:
        failed = self._reasons or [self._errors(), f"exit code {exit_code}"]
        passed = self._notes or ["no limit was broken; nothing was audited"]
        reasons = f"FAIL: {'; '.join(filter(None, [*failed, *self._notes]))}"
        print(reasons if exit_code else f"PASS: {'; '.join(passed)}", flush=True)

    def _errors(self) -> str:
        errors = self._environment.stats.errors.values()
        return ", ".join(f"{e.method} {e.name}: {e.error} ({e.occurrences:,})" for e in errors)


class RequestTimes:
    """Response times of requests, including failed ones.

    Exact if Locust runs as one process. A master gets only buckets (147 ms as 150 ms, 3,432 ms as
    3,400 ms), so its p99 is one of those.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._ms = array("d")
        if isinstance(environment.runner, LocalRunner):
            environment.events.request.add_listener(self._note)
            environment.events.test_start.add_listener(self._forget)
            environment.events.reset_stats.add_listener(self._forget)

    def p99_ms(self) -> float | None:
        if self._ms:
            return sorted(self._ms)[math.ceil(0.99 * len(self._ms)) - 1]
        buckets: Counter[int] = Counter()
        for entry in self._entries():
            buckets.update(entry.response_times)
        return calculate_response_time_percentile(buckets, buckets.total(), 0.99) or None

    def fail_ratio(self) -> float | None:
        requests = sum(entry.num_requests for entry in self._entries())
        failures = sum(entry.num_failures for entry in self._entries())
        return failures / requests if requests else None

    def _entries(self) -> list[StatsEntry]:
        entries = self._environment.stats.entries.values()
        return [entry for entry in entries if entry.method != NO_REQUEST]

    def _note(self, request_type: str, response_time: float | None, **kwargs: Any) -> None:
        if request_type != NO_REQUEST and response_time is not None:
            self._ms.append(response_time)

    def _forget(self, **kwargs: Any) -> None:
        del self._ms[:]
