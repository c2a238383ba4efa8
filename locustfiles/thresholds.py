"""Limits that a run has to keep: each one that is broken is told, and makes the exit code 1."""

import logging
import math
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any

from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import LocalRunner, WorkerRunner
from locust.stats import StatsEntry, calculate_response_time_percentile

from locustfiles.service import Watch

NO_REQUEST = "FEED"
"""The type of what Locust records though it is no request: "time to visible"."""
logger = logging.getLogger(__name__)


def add_arguments(parser: LocustArgumentParser) -> None:
    p99 = "exit with 1 if the p99 of all requests is above this"
    lag = "exit with 1 if the lag's p99 over any 10 s is above this"
    ratio = "exit with 1 if a larger share of the requests fails; 0 to 1"
    # The web UI loses a name with a digit in it.
    parser.add_argument("--fail-p99-ms", dest="fail_latency_ms", type=float, help=p99)
    parser.add_argument("--fail-lag-ms", type=float, help=lag)
    parser.add_argument("--fail-ratio", type=float, help=ratio)


def attach(environment: Environment, watch: Watch) -> None:
    """Judge the run when Locust ends; a worker leaves that to its master."""
    if isinstance(environment.runner, WorkerRunner):
        return
    times = RequestTimes(environment)

    def judge(**kwargs: Any) -> None:
        for line in broken(environment, times, watch):
            logger.error(line)
            environment.process_exit_code = 1

    environment.events.quitting.add_listener(judge)


def broken(environment: Environment, times: "RequestTimes", watch: Watch) -> Iterator[str]:
    """Yield a line for each limit that wasn't kept, or of which nothing is known."""
    options: Any = environment.parsed_options
    if (limit := _limit(options.fail_latency_ms)) is not None:
        yield from _above("--fail-p99-ms", limit, times.p99_ms(), "the p99 of all requests", " ms")
    if (limit := _limit(options.fail_lag_ms)) is not None:
        watch.look()
        yield from _above("--fail-lag-ms", limit, watch.worst_lag_ms, "the worst p99 of lag", " ms")
    if (limit := _limit(options.fail_ratio)) is not None:
        yield from _above("--fail-ratio", limit, times.fail_ratio(), "the share of failures", "")


class RequestTimes:
    """How long requests took, failed ones too.

    Exact where Locust runs as one process. A master is told of buckets only (147 ms as 150 ms,
    3,432 ms as 3,400 ms), so its p99 is one of those.
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


def _limit(given: float | str | None) -> float | None:
    """Return a limit as the command line (a number) or the web UI (a text) gave it."""
    return None if given in (None, "") else float(given or 0)


def _above(option: str, limit: float, figure: float | None, name: str, unit: str) -> Iterator[str]:
    if figure is None:
        yield f"{option} {limit:g} is broken: there is no figure to judge by ({name})"
    elif figure > limit:
        yield f"{option} {limit:g} is broken: {name} is {figure:.4g}{unit}"
