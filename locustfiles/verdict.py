"""PASS or FAIL, with the reasons: the last line of a headless run, and its exit code."""

import logging
from typing import Any

from locust.env import Environment
from locust.runners import WorkerRunner

logger = logging.getLogger(__name__)


class Verdict:
    """The result of limits and audit. A worker leaves the last line to its master."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._reasons: list[str] = []
        self._passed: list[str] = []
        options: Any = environment.parsed_options
        if options.headless and not isinstance(environment.runner, WorkerRunner):
            environment.events.quit.add_listener(self._print)

    def fail(self, reason: str) -> None:
        """Record why the run failed; its exit code becomes 1."""
        logger.error(reason)
        self._reasons.append(reason)
        self._environment.process_exit_code = 1

    def note(self, what: str) -> None:
        """Record a result for the line of a run that passes."""
        self._passed.append(what)

    def _print(self, exit_code: int, **kwargs: Any) -> None:
        failed = self._reasons or [self._errors(), f"exit code {exit_code}"]
        said = f"FAIL: {'; '.join(filter(None, failed))}" if exit_code else self._pass()
        print(said, flush=True)

    def _pass(self) -> str:
        return f"PASS: {'; '.join(self._passed) or 'no limit was broken; nothing was audited'}"

    def _errors(self) -> str:
        errors = self._environment.stats.errors.values()
        return ", ".join(f"{it.method} {it.name}: {it.error} ({it.occurrences:,})" for it in errors)
