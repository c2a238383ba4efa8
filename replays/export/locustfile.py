"""50 people request at random an export, a report, a token or their feed.

    locust -f replays/export/locustfile.py --users 50 --pace-s 60  # one per minute, as published
    locust -f replays/export/locustfile.py --users 50 --order      # order exports, fetch them later

People need the password of ``manage.py seed_people --password``.
"""

import csv
import hashlib
import io
import os
import time
from typing import Any

import gevent
from locust import events, tag, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles.arrivals import count_from
from locustfiles.people import LoadPerson
from locustfiles.rows import RowLog
from locustfiles.thresholds import NO_REQUEST
from locustfiles.visitor import Visitor

EXPORT = "/v1/me/export/"
REPORT = "/v1/me/report/"
ORDERS = "/v1/me/exports/"
ORDER = "/v1/me/exports/[id]/"
FILE = "/v1/me/exports/[id]/file/"
TOKEN = "/v1/token/"  # noqa: S105
FEED = "/v1/feed/"
ORDERED = "export from order to file"
LOOK_EVERY_S = 0.5


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    exports = "write here what every export held; a worker adds its index: file-0.csv"
    parser.add_argument("--password", default="export", help="password of all people")
    parser.add_argument("--order", action="store_true", help="order exports as jobs")
    parser.add_argument("--exports", default=os.devnull, help=exports, include_in_web_ui=False)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    Requester.exports = ExportLog(environment, options.exports)


class ExportLog:
    """CSV with the content of every export, recorded outside of the service for the check."""

    def __init__(self, environment: Environment, path: str) -> None:
        self._rows = RowLog(environment, path, ("person_id", "rows", "sha256"))

    def write(self, person: LoadPerson, content: bytes) -> None:
        ids = sorted(ids_of(content))
        lines = "".join(f"{post_id}\n" for post_id in ids)
        self._rows.write(person.id, len(ids), hashlib.sha256(lines.encode()).hexdigest())


def ids_of(content: bytes) -> list[int]:
    """Return the ids of the posts in a CSV file."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    next(rows)
    return [int(row[0]) for row in rows]


class Requester(Visitor):
    """A user with as many expensive requests as ordinary ones."""

    exports: ExportLog
    pace_s = 6.0
    network_timeout = 300.0  # long, so that the service gives up first

    @tag("expensive")
    @task
    def export(self) -> None:
        if self.environment.parsed_options.order:
            self.arrive(NO_REQUEST, ORDERED, self.order_export)
        else:
            self.arrive("GET", EXPORT, lambda due: self.download(EXPORT, EXPORT, due))

    @tag("expensive")
    @task
    def report(self) -> None:
        self.arrive("GET", REPORT, lambda due: self.answer_to(self.person, "GET", REPORT, 200, due))

    @tag("ordinary")
    @task
    def token(self) -> None:
        self.arrive("POST", TOKEN, self.log_in)

    @tag("ordinary")
    @task
    def feed(self) -> None:
        self.arrive("GET", FEED, lambda due: self.answer_to(self.person, "GET", FEED, 200, due))

    def log_in(self, due: float) -> None:
        password = self.environment.parsed_options.password
        login = {"username": f"person{self.person.id}", "password": password}
        self.answer_to(self.person, "POST", TOKEN, 200, due, json=login)

    def order_export(self, due: float) -> None:
        """Order an export and fetch it when it is ready; recorded as one action."""
        with self.waiting(NO_REQUEST, ORDERED, due):
            self.report_order(due, self.fetch_order(due))

    def fetch_order(self, due: float) -> bool:
        """Return whether the file was fetched."""
        job = self.answer_to(self.person, "POST", ORDERS, 202, due, json={"format": "csv"})
        url = f"{ORDERS}{job['id']}/" if job else ""
        while job and job["state"] == "waiting":
            gevent.sleep(LOOK_EVERY_S)
            job = self.answer_to(self.person, "GET", url, 200, time.time(), name=ORDER)
        there = bool(job and job["state"] == "ready")
        return there and self.download(f"{url}file/", FILE, time.time())

    def report_order(self, due: float, fetched: bool) -> None:
        self.environment.events.request.fire(
            request_type=NO_REQUEST,
            name=ORDERED,
            start_time=due,
            response_time=(time.time() - due) * 1000,
            response_length=0,
            exception=None if fetched else RuntimeError("no file"),
            context={},
        )

    def download(self, url: str, name: str, due: float) -> bool:
        """Fetch a file and record its content; return whether it was fetched."""
        headers = self.person.headers
        with (
            self.waiting("GET", name, due),
            self.client.get(url, name=name, headers=headers, catch_response=True) as response,
        ):
            count_from(due, response)
            if response.status_code != 200:
                response.failure(f"status {response.status_code}")
                return False
        self.exports.write(self.person, response.content)
        return True
