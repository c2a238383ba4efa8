"""A class signs up at once: 8 in 10 try a new name each second, 1 a taken one, 1 posts.

    locust -f locustfiles/signup.py --users 100 --spawn-rate 50 --headless --run-time 30s

Those who post have an account, and do so from the start; the others wait for --rush-after. So
one run tells what a request costs that has nothing to do with the rush, before it and in it.
"""

import csv
import os
import time
from typing import Any
from uuid import uuid4

import gevent
from gevent import GreenletExit
from locust import events, tag, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles.people import LoadPerson, own_file
from locustfiles.posts import random_body
from locustfiles.visitor import Visitor, plays

SIGNUP = "/v1/signup/"
TAKEN = "/v1/signup/ (taken)"
POSTS = "/v1/posts/"
STRANGER = LoadPerson(position=0, id=0, headers={})
PASSWORD = "correct horse battery staple"  # noqa: S105


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    rush = "seconds from the start of the test until people begin to sign up"
    accepted = "write everyone who has signed up here, for manage.py check_signups --accepted"
    parser.add_argument("--rush-after", type=float, default=5, help=rush)
    parser.add_argument("--accepted", default=os.devnull, help=accepted, include_in_web_ui=False)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    accepted = own_file(environment, options.accepted) if plays(environment) else os.devnull
    NewPerson.accepted = SignupLog(environment, accepted)


class SignupLog:
    """Everyone who was told that she has signed up: a row in a CSV."""

    def __init__(self, environment: Environment, path: str) -> None:
        self._file = open(path, "w", newline="", buffering=1)  # noqa: SIM115, PTH123
        self._rows = csv.writer(self._file)
        self._rows.writerow(("id", "username"))
        environment.events.quitting.add_listener(lambda **kwargs: self._file.close())

    def write(self, person: dict[str, Any]) -> None:
        self._rows.writerow((person["id"], person["username"]))


@events.test_start.add_listener
def begin(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    Stranger.rush_at = time.monotonic() + options.rush_after


class Waiting(Visitor):
    """A visitor whose last request fails if the test ends before the answer comes."""

    abstract = True

    def answer_to(
        self, person: LoadPerson, method: str, url: str, status: int, due: float, **kwargs: Any
    ) -> dict[str, Any] | None:
        try:
            return super().answer_to(person, method, url, status, due, **kwargs)
        except GreenletExit:
            self.environment.events.request.fire(
                request_type=method,
                name=kwargs.get("name", url),
                start_time=due,
                response_time=(time.time() - due) * 1000,
                response_length=0,
                exception=TimeoutError("no answer"),
                context={},
            )
            raise


class Stranger(Waiting):
    """Somebody without an account, who comes with the rush."""

    abstract = True
    rush_at: float

    def on_start(self) -> None:
        gevent.sleep(max(0.0, self.rush_at - time.monotonic()))
        super().on_start()

    def choose_person(self) -> LoadPerson:
        return STRANGER

    def sign_up(self, username: str, status: int, due: float, **kwargs: Any) -> Any:
        asked = {"username": username, "password": PASSWORD}
        return self.answer_to(STRANGER, "POST", SIGNUP, status, due, json=asked, **kwargs)


class NewPerson(Stranger):
    weight = 8
    accepted: SignupLog

    @tag("signup")
    @task
    def sign_up_anew(self) -> None:
        self.arrive("POST", SIGNUP, self.sign_up_and_note)

    def sign_up_and_note(self, due: float) -> None:
        person = self.sign_up(uuid4().hex, 201, due)
        if person is not None:
            self.accepted.write(person)


class Namesake(Stranger):
    """Somebody whose name is taken; her password isn't worth a hash."""

    weight = 1

    @tag("taken")
    @task
    def try_a_taken_name(self) -> None:
        self.arrive("POST", TAKEN, self.be_refused)

    def be_refused(self, due: float) -> None:
        self.sign_up("person1", 409, due, name=TAKEN)


class Poster(Waiting):
    """Somebody who is there already, and wants nothing but a row written."""

    weight = 1

    @tag("control")
    @task
    def post(self) -> None:
        self.arrive("POST", POSTS, self.write_post)

    def write_post(self, due: float) -> None:
        self.answer_to(self.person, "POST", POSTS, 201, due, json={"body": random_body()})
