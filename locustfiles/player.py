"""What all load generators here share: their options, and a user who plays a person."""

import os
from pathlib import Path
from typing import Any

from locust import FastHttpUser, events
from locust.argument_parser import LocustArgumentParser
from locust.contrib.csv_request_logger import CsvRequestLogger
from locust.env import Environment
from locust.runners import MasterRunner

from locustfiles import ending, tab, thresholds
from locustfiles.arrivals import ARRIVALS, MOST_IN_FLIGHT, Action, Arrivals, count_from
from locustfiles.ending import Ending
from locustfiles.people import LoadPerson, People, share_out
from locustfiles.posts import AcceptedLog, own_file, random_body
from locustfiles.service import Watch


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    graph = "the seeded graph; with star only person 1 posts (as published)"
    arrivals = "closed: a user waits for her answer; open: she acts on schedule, answered or not"
    tokens = "people and their access tokens, from manage.py seed_people --tokens"
    own = "; a worker adds its index to the name, like file-0.csv"
    accepted = "write every accepted post here, for manage.py audit --accepted" + own
    requests = "write every request with its own time here" + own
    parser.add_argument("--graph", choices=["ring", "star", "zipf"], default="ring", help=graph)
    parser.add_argument("--arrivals", choices=list(ARRIVALS), default="closed", help=arrivals)
    for name, default, meaning in (
        ("--tokens", "var/tokens.csv", tokens),
        ("--accepted", os.devnull, accepted),
        ("--requests", os.devnull, requests),
    ):
        parser.add_argument(name, default=default, help=meaning, include_in_web_ui=False)
    thresholds.add_arguments(parser)
    ending.add_arguments(parser)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    watch = Watch(environment)
    tab.attach(environment, watch)
    if environment.web_ui or options.fail_lag_ms is not None:
        watch.start()
    plays = not isinstance(environment.runner, MasterRunner)
    Player.people = People(Path(options.tokens))
    accepted = own_file(environment, options.accepted) if plays else os.devnull
    Player.accepted = AcceptedLog(environment, accepted)
    if plays:
        requests = own_file(environment, options.requests)
        CsvRequestLogger(requests, flush_interval=100).register(environment)
    share_out(environment, Player.people)
    # Locust calls the last one first when it quits: the run ends before it is judged.
    thresholds.attach(environment, watch)
    Ending(environment, Player.people, Player.accepted).attach()


class Player(FastHttpUser):
    """Somebody who does one thing a second, as one of the seeded people."""

    abstract = True
    concurrency = MOST_IN_FLIGHT
    people: People
    accepted: AcceptedLog
    person: LoadPerson
    arrivals: Arrivals

    def on_start(self) -> None:
        options = self.environment.parsed_options
        self.person = self.people.first() if options.graph == "star" else self.people.next()
        self.arrivals = ARRIVALS[options.arrivals](self)
        self.arrivals.begin()

    def on_stop(self) -> None:
        self.arrivals.end()

    def wait_time(self) -> float:
        return self.arrivals.wait_s()

    def arrive(self, request_type: str, name: str, do: Any) -> None:
        self.arrivals.run(Action(request_type, name, do))

    def write_post(self, due: float) -> dict[str, Any] | None:
        """Post, and return the post if it was accepted."""
        body = {"body": random_body()}
        post = self.answer_to(self.person, "POST", "/v1/posts/", 201, due, json=body)
        if post is not None:
            self.accepted.write(self.person, post)
        return post

    def answer_to(
        self, person: LoadPerson, method: str, url: str, status: int, due: float, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Ask as a person; return the JSON of an answer with this status, None for a failure."""
        with self.rest(method, url, headers=person.headers, **kwargs) as response:
            count_from(due, response)
            if response.status_code != status:
                response.failure(f"status {response.status_code}")
                return None
            return response.js
