"""Everybody posts as person 1 to the published author's service, as the author's k6 script did.

    python -m lab up author_default --experiment factors
    locust -f replays/author/locustfile.py --headless --arrivals checked --run-time 60s

Requests have the same names as those of our service. Each text ends in a tag, by which the audit
identifies the post in every feed.
"""

import os
from typing import Any
from uuid import uuid4

from locust import events, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles.people import LoadPerson
from locustfiles.rows import RowLog
from locustfiles.texts import random_body
from locustfiles.visitor import Visitor

URL, NAME = "/v1/me/posts/", "/v1/posts/"


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    accepted = "write the tag of every accepted post here"
    parser.add_argument("--accepted", default=os.devnull, help=accepted, include_in_web_ui=False)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    Poster.accepted = RowLog(environment, options.accepted, ("tag",))


class Poster(Visitor):
    accepted: RowLog

    def choose_person(self) -> LoadPerson:
        """Return person 1, who accepts any answer as k6 does: Django's error pages are HTML."""
        return self.people.first()._replace(headers={"Accept": "*/*"})

    @task
    def post(self) -> None:
        self.arrive("POST", NAME, self.write)

    def write(self, due: float) -> None:
        tag = uuid4().hex
        body = {"person": 1, "content": f"{random_body()} {tag}"}
        if self.answer_to(self.person, "POST", URL, 201, due, name=NAME, json=body) is not None:
            self.accepted.write(tag)
