"""A class signs up at once: 8 in 10 try a new name each second, 1 a taken one, 1 posts.

    locust -f replays/signup/locustfile.py --users 100 --spawn-rate 50 --headless --run-time 30s

The posters have an account and post from the start; the others wait for --rush-after. So one run
measures an unrelated request before the rush and in it.
"""

import os
import time
from typing import Any
from uuid import uuid4

import gevent
from locust import events, tag, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles.people import LoadPerson
from locustfiles.rows import RowLog
from locustfiles.texts import random_body
from locustfiles.visitor import Visitor

SIGNUP = "/v1/signup/"
TAKEN = "/v1/signup/ (taken)"
POSTS = "/v1/posts/"
NOBODY = LoadPerson(position=0, id=0, headers={})
PASSWORD = "correct horse battery staple"  # noqa: S105


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    rush = "seconds from the start of the test until people begin to sign up"
    accepted = "write every accepted sign-up here, for manage.py audit_signups --accepted"
    parser.add_argument("--rush-after", type=float, default=5, help=rush)
    parser.add_argument("--accepted", default=os.devnull, help=accepted, include_in_web_ui=False)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    NewPerson.accepted = RowLog(environment, options.accepted, ("id", "username"))


@events.test_start.add_listener
def begin(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    NewVisitor.rush_at = time.monotonic() + options.rush_after


class NewVisitor(Visitor):
    """A user without an account, who signs up in the rush."""

    abstract = True
    rush_at: float

    def on_start(self) -> None:
        gevent.sleep(max(0.0, self.rush_at - time.monotonic()))
        super().on_start()

    def choose_person(self) -> LoadPerson:
        return NOBODY

    def sign_up(self, username: str, status: int, due: float, **kwargs: Any) -> Any:
        body = {"username": username, "password": PASSWORD}
        return self.answer_to(NOBODY, "POST", SIGNUP, status, due, json=body, **kwargs)


class NewPerson(NewVisitor):
    weight = 8
    accepted: RowLog

    @tag("signup")
    @task
    def sign_up_as_new(self) -> None:
        self.arrive("POST", SIGNUP, self.sign_up_and_note)

    def sign_up_and_note(self, due: float) -> None:
        person = self.sign_up(uuid4().hex, 201, due)
        if person is not None:
            self.accepted.write(person["id"], person["username"])


class Namesake(NewVisitor):
    """A user whose name is taken: their password must not be hashed."""

    weight = 1

    @tag("taken")
    @task
    def try_a_taken_name(self) -> None:
        self.arrive("POST", TAKEN, self.be_refused)

    def be_refused(self, due: float) -> None:
        self.sign_up("person1", 409, due, name=TAKEN)


class Poster(Visitor):
    """A user with an account, whose request writes one row."""

    weight = 1

    @tag("control")
    @task
    def post(self) -> None:
        self.arrive("POST", POSTS, self.write_post)

    def write_post(self, due: float) -> None:
        self.answer_to(self.person, "POST", POSTS, 201, due, json={"body": random_body()})
