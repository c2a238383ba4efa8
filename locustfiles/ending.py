"""How a headless run ends: the users stop, the backlog drains, and the audit is printed."""

import time
from typing import Any

import gevent
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import STATE_MISSING, LocalRunner, MasterRunner, WorkerRunner

from locustfiles.audit import Findings, added_up, audit
from locustfiles.people import People
from locustfiles.posts import AcceptedLog
from locustfiles.service import Unreachable, ask
from locustfiles.verdict import Verdict

GIVE_UP_S = 15.0
"""Seconds without a shorter backlog before giving up."""
LOOK_AGAIN_S = 0.5
AUDIT_WITHIN_S = 60.0
NO_POSTS = "no post was accepted, so there is nothing to audit (--no-audit skips it)"
WHOLE_AUDIT = "a sample, seen from outside; manage.py audit_timelines checks every timeline"


def add_arguments(parser: LocustArgumentParser) -> None:
    drain = "seconds to wait for the drain at the end of a headless run"
    no_audit = "neither wait nor audit at the end of a headless run"
    parser.add_argument("--drain-s", type=float, default=60, help=drain, include_in_web_ui=False)
    parser.add_argument("--no-audit", action="store_true", help=no_audit, include_in_web_ui=False)


class Ending:
    """Collects the findings of every process with users; a single process asks itself."""

    def __init__(
        self, environment: Environment, people: People, accepted: AcceptedLog, verdict: Verdict
    ) -> None:
        assert environment.runner is not None
        self._verdict = verdict
        self._environment = environment
        self._runner = environment.runner
        self._options: Any = environment.parsed_options
        self._people = people
        self._accepted = accepted
        self._reports: list[Findings] = []
        self._runner.register_message("audit", self._report, concurrent=True)
        self._runner.register_message("audited", self._collect)

    def attach(self) -> None:
        options = self._options
        if isinstance(self._runner, WorkerRunner):
            return
        # Ctrl-C ends Locust without stopping the users first, and then calculates the exit code.
        self._environment.events.quitting.add_listener(lambda **kwargs: self._runner.quit())
        if options.headless and not options.no_audit:
            self._environment.events.test_stop.add_listener(self._audit)

    def _audit(self, **kwargs: Any) -> None:
        drain_s = self._options.drain_s
        print("audit: waiting for the backlog to drain", flush=True)
        asked = self._ask_all({"drain_s": drain_s}, within_s=drain_s + AUDIT_WITHIN_S)
        found, backlog = added_up([Findings(), *self._reports]), backlog_of(self._environment)
        silent = asked - len(self._reports)
        wrong = [
            *([] if found.ok else [str(found)]),
            *([] if found.posts else [NO_POSTS]),
            *([f"{silent} of {asked} workers did not report"] if silent or not asked else []),
            *([f"the backlog is not empty: {_in_words(backlog)}"] if backlog != 0 else []),
        ]
        print(f"audit: {found}")
        print(f"audit: {'NOT CLEAN' if wrong else 'clean'} ({WHOLE_AUDIT})", flush=True)
        for reason in wrong:
            self._verdict.fail(f"audit: {reason}")
        self._verdict.note(f"audit: {found}")

    def _ask_all(self, data: dict[str, float], within_s: float) -> int:
        """Wait for the reports of all running workers; return the number of requested ones."""
        workers = list(self._runner.clients.all) if isinstance(self._runner, MasterRunner) else []
        asked = 1 if isinstance(self._runner, LocalRunner) else len(workers)
        give_up_at = time.monotonic() + within_s
        self._runner.send_message("audit", data)
        while len(self._reports) < asked and time.monotonic() < give_up_at:
            if workers and all(worker.state == STATE_MISSING for worker in workers):
                break
            gevent.sleep(0.1)
        return asked

    def _report(self, environment: Environment, msg: Any) -> None:
        self._runner.stop()
        await_drain(environment, msg.data["drain_s"])
        found = audit(environment.host, self._people, self._accepted)
        self._runner.send_message("audited", found._asdict())

    def _collect(self, environment: Environment, msg: Any) -> None:
        self._reports.append(Findings(**msg.data))


def await_drain(environment: Environment, within_s: float) -> None:
    """Wait until the backlog is empty or stops shrinking, or time is up."""
    least = float("inf")
    shrunk_at = time.monotonic()
    give_up_at = shrunk_at + within_s
    while (backlog := backlog_of(environment)) != 0:
        now = time.monotonic()
        if backlog is not None and backlog < least:
            least, shrunk_at = backlog, now
        if now > min(give_up_at, shrunk_at + GIVE_UP_S):
            return
        gevent.sleep(LOOK_AGAIN_S)


def backlog_of(environment: Environment) -> int | None:
    """Return the backlog; None if the service is unreachable."""
    try:
        posts: int = ask(environment.host, "/statusz")["backlog"]["posts"]
    except Unreachable:
        return None
    return posts


def _in_words(backlog: int | None) -> str:
    return "the service is unreachable" if backlog is None else f"{backlog:,} posts"
