"""Visitors who post: accepted posts are recorded, and audited at the end."""

import os
import time
from typing import Any
from uuid import uuid4

import gevent
from locust import events
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles import ending, tab
from locustfiles.ending import Ending
from locustfiles.people import LoadPerson
from locustfiles.rows import AcceptedLog
from locustfiles.service import Watch
from locustfiles.texts import random_body
from locustfiles.visitor import Visitor

REPEATS = 10
"""Most repeats of a post with an idempotency key."""
REPEAT_AFTER_S = 1.0
"""Seconds between them, as the service's Retry-After says."""
MAY_REPEAT = (0, 503)
"""Answers after which a post may be stored or not; 0: none."""


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    graph = "the seeded graph; with star only person 1 posts (as published)"
    accepted = (
        "write every accepted post here, for manage.py audit_timelines --accepted; a worker adds "
        "its index to the name, like file-0.csv"
    )
    keys = (
        "send each post with an Idempotency-Key, and repeat it while it is answered 503 or not at "
        "all; off by default: the published loads have no keys"
    )
    lag = "exit with 1 if the lag's p99 over any 10 s is above this"
    parser.add_argument("--graph", default="ring", help=graph)
    parser.add_argument("--accepted", default=os.devnull, help=accepted, include_in_web_ui=False)
    parser.add_argument("--idempotency-keys", action="store_true", help=keys)
    parser.add_argument("--fail-lag-ms", type=float, help=lag)
    ending.add_arguments(parser)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    watch = Watch(environment)
    tab.attach(environment, watch)
    if environment.web_ui or options.fail_lag_ms is not None:
        gevent.spawn(watch.keep_looking)
    Player.accepted = AcceptedLog(environment, options.accepted)
    lag, worst = "the worst p99 of lag", watch.worst_lag_by_now
    Player.verdict.limit("--fail-lag-ms", "fail_lag_ms", worst, lag, " ms")
    # On quit Locust calls the last listener first: the run ends before it is judged.
    Ending(environment, Player.people, Player.accepted, Player.verdict)


class Player(Visitor):
    """A visitor who writes posts."""

    abstract = True
    accepted: AcceptedLog

    def choose_person(self) -> LoadPerson:
        star = self.environment.parsed_options.graph == "star"
        return self.people.first() if star else self.people.next()

    def write_post(self, due: float) -> dict[str, Any] | None:
        """Post, and return the post if it was accepted."""
        body = {"body": random_body()}
        has_key = self.environment.parsed_options.idempotency_keys
        headers = self.person.headers | ({"Idempotency-Key": str(uuid4())} if has_key else {})
        person, sent_at = self.person._replace(headers=headers), due
        for _ in range(1 + (REPEATS if has_key else 0)):
            post = self.answer_to(person, "POST", "/v1/posts/", 201, due, json=body)
            if post is not None:
                self.accepted.write(self.person, post, sent_at)
                return post
            if self.latest_status not in MAY_REPEAT:
                break
            gevent.sleep(REPEAT_AFTER_S)
            due = time.time()
        return None
