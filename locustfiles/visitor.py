"""Shared by all load generators here: options, and a user who acts on schedule."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gevent
from gevent import GreenletExit
from locust import FastHttpUser, events
from locust.argument_parser import LocustArgumentParser
from locust.contrib.csv_request_logger import CsvRequestLogger
from locust.env import Environment

from locustfiles import thresholds
from locustfiles.arrivals import ARRIVALS, MOST_IN_FLIGHT, Closed, count_from
from locustfiles.people import LoadPerson, People, share_out
from locustfiles.rows import RowLog, own_file
from locustfiles.thresholds import RequestTimes, Verdict


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    arrivals = (
        "closed: users keep a schedule, but wait for each answer; paused: they pause after each "
        "answer; checked: after each but a failure; open: they keep the schedule, answered or not"
    )
    pace = (
        "seconds from one action of a user to the next; with paused arrivals, from answer to next"
    )
    tokens = "people and their access tokens, from manage.py seed_people --tokens"
    requests = "write every request with its own time here; a worker adds its index: file-0.csv"
    unanswered = "write every request here that had no answer when the test ended"
    parser.add_argument("--arrivals", choices=list(ARRIVALS), default="closed", help=arrivals)
    parser.add_argument("--pace-s", type=float, help=pace)
    for name, default, meaning in (
        ("--tokens", "var/tokens.csv", tokens),
        ("--requests", os.devnull, requests),
        ("--unanswered", os.devnull, unanswered),
    ):
        parser.add_argument(name, default=default, help=meaning, include_in_web_ui=False)
    thresholds.add_arguments(parser)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    Visitor.people = People(Path(options.tokens))
    requests = own_file(environment, options.requests)
    CsvRequestLogger(requests, flush_interval=100).register(environment)
    Visitor.unanswered = RowLog(environment, options.unanswered, UNANSWERED)
    share_out(environment, Visitor.people)
    verdict, times = Verdict(environment), RequestTimes(environment)
    p99 = "the p99 of all requests"
    verdict.limit("--fail-p99-ms", "fail_latency_ms", times.p99_ms, p99, " ms")
    verdict.limit("--fail-ratio", "fail_ratio", times.fail_ratio, "the share of failures")
    Visitor.verdict = verdict
    # gevent counts --run-time from its loop's last turn, which may be seconds ago.
    gevent.get_hub().loop.update_now()


UNANSWERED = ("timestamp", "request_type", "name", "waited_ms")


class Visitor(FastHttpUser):
    """A user who acts once per ``pace_s``, as one of the seeded people."""

    abstract = True
    concurrency = MOST_IN_FLIGHT
    pace_s = 1.0
    people: People
    unanswered: RowLog
    verdict: Verdict
    person: LoadPerson
    arrivals: Closed
    latest_status = 0
    """Of the user's latest answer; 0 if there was none."""

    def on_start(self) -> None:
        options: Any = self.environment.parsed_options
        self.person = self.choose_person()
        pace = options.pace_s  # the web UI gives a text, which is empty by default
        pace_s = self.pace_s if pace in (None, "") else float(pace)
        self.arrivals = ARRIVALS[options.arrivals](self, pace_s)
        self.arrivals.begin()

    def on_stop(self) -> None:
        self.arrivals.end()

    def wait_time(self) -> float:
        return self.arrivals.wait_s()

    def choose_person(self) -> LoadPerson:
        return self.people.next()

    def arrive(self, request_type: str, name: str, do: Any) -> None:
        """Call ``do(due)``; latency counts from the Unix time ``due``."""
        self.arrivals.run(request_type, name, do)

    def answer_to(
        self, person: LoadPerson, method: str, url: str, status: int, due: float, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Send a person's request; return the JSON of an answer with this status, or None."""
        with (
            self.waiting(method, kwargs.get("name", url), due),
            self.rest(method, url, headers=person.headers, **kwargs) as response,
        ):
            count_from(due, response)
            self.latest_status = response.status_code
            self.arrivals.was_refused = response.status_code != status
            if self.arrivals.was_refused:
                response.failure(f"status {response.status_code}")
                return None
            if response.js is not None:
                response.success()  # also if the expected status is an error
            return response.js

    @contextmanager
    def waiting(self, method: str, name: str, due: float) -> Iterator[None]:
        """Record the block's request as unanswered if the test ends before its answer."""
        try:
            yield
        except GreenletExit:
            self.unanswered.write(due, method, name, (time.time() - due) * 1000)
            raise
