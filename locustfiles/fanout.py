"""500 people post once a second each; every post goes to all friends of its author.

    locust -f locustfiles/fanout.py                   # web UI; locust.conf gives users and host
    locust -f locustfiles/fanout.py --headless --run-time 60s --graph star

A small share of the users also looks for each of its posts in a friend's feed until it shows
there, and reports that as "time to visible".
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, constant_throughput, events, tag, task
from locust.argument_parser import LocustArgumentParser
from locust.contrib.csv_request_logger import CsvRequestLogger

from locustfiles.people import People
from locustfiles.posts import AcceptedLog, random_body

VISIBLE_WITHIN_S = 10
LOOK_AGAIN_S = 0.02


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    graph = "the seeded graph; with star only person 1 posts (as published)"
    share = "share of the users who look for their posts in a friend's feed"
    tokens = "people and their access tokens, from manage.py seed_people --tokens"
    accepted = "write every accepted post here, for manage.py audit --accepted"
    requests = "write every request with its own time here"
    parser.add_argument("--graph", choices=["ring", "star", "zipf"], default="ring", help=graph)
    parser.add_argument("--visible-share", type=float, default=0.02, help=share)
    for name, default, meaning in (
        ("--tokens", "var/tokens.csv", tokens),
        ("--accepted", os.devnull, accepted),
        ("--requests", os.devnull, requests),
    ):
        parser.add_argument(name, default=default, help=meaning, include_in_web_ui=False)


@events.init.add_listener
def open_files(environment: Any, **kwargs: Any) -> None:
    options = environment.parsed_options
    Poster.people = People(Path(options.tokens))
    Poster.accepted = AcceptedLog(environment, options.accepted)
    CsvRequestLogger(options.requests, flush_interval=100).register(environment)


class Poster(FastHttpUser):
    """Somebody who posts once a second, whatever her friends do."""

    people: People
    accepted: AcceptedLog
    wait_time = constant_throughput(1)

    def on_start(self) -> None:
        options = self.environment.parsed_options
        person = self.people.first() if options.graph == "star" else self.people.next()
        self.headers = person.headers
        self.friend_headers = self.people.friend_of(person).headers
        self.looks = random.random() < options.visible_share  # noqa: S311
        gevent.sleep(random.random())  # noqa: S311  a phase of one's own: bursts would stay in step

    @tag("post")
    @task
    def write_post(self) -> None:
        sent_at = time.time()
        with self.rest(
            "POST", "/v1/posts/", json={"body": random_body()}, headers=self.headers
        ) as response:
            if not _answered(response, 201):
                return
            post = response.js
        self.accepted.write(post)
        if self.looks:
            self.look_for(post["id"], sent_at)

    def look_for(self, post_id: int, sent_at: float) -> None:
        """Ask for the post's place in a friend's feed until it is there."""
        error: Exception | None = None
        while not self.shows(post_id):
            if time.time() > sent_at + VISIBLE_WITHIN_S:
                error = TimeoutError(f"not visible within {VISIBLE_WITHIN_S} s")
                break
            gevent.sleep(LOOK_AGAIN_S)
        self.environment.events.request.fire(
            request_type="FEED",
            name="time to visible",
            start_time=sent_at,
            response_time=(time.time() - sent_at) * 1000,
            response_length=0,
            exception=error,
            context={},
        )

    def shows(self, post_id: int) -> bool:
        url = f"/v1/feed/?before={post_id + 1}&limit=1"
        with self.rest("GET", url, name="/v1/feed/", headers=self.friend_headers) as response:
            return _answered(response, 200) and any(
                post["id"] == post_id for post in response.js["posts"]
            )


def _answered(response: Any, status: int) -> bool:
    """Tell whether the answer has this status and is JSON; anything else counts as a failure."""
    if response.status_code != status:
        response.failure(f"status {response.status_code}")
    return response.status_code == status and response.js is not None
