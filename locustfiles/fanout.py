"""500 people post once per second each; every post goes to all friends of its author.

    locust -f locustfiles/fanout.py                   # web UI; locust.conf gives users and host
    locust -f locustfiles/fanout.py --headless --run-time 60s --fail-p99-ms 500 --fail-ratio 0.01

A small share of the users also looks for each of its posts in a friend's feed until it shows
there, and reports that as "time to visible".
"""

import random
import time

import gevent
from locust import events, tag, task
from locust.argument_parser import LocustArgumentParser

from locustfiles.player import Player
from locustfiles.thresholds import NO_REQUEST

VISIBLE = "time to visible"
VISIBLE_WITHIN_S = 10
LOOK_AGAIN_S = 0.02
LOOK_AGAIN = 0.05
"""Share of the time waited so far, where that is longer: looking is load too."""


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    share = "share of the users who look for their posts in a friend's feed"
    parser.add_argument("--visible-share", type=float, default=0.02, help=share)


class Poster(Player):
    """A user who posts once per second."""

    def on_start(self) -> None:
        self.looks = random.random() < self.environment.parsed_options.visible_share  # noqa: S311
        super().on_start()

    @tag("post")
    @task
    def post(self) -> None:
        self.arrive("POST", "/v1/posts/", self.post_and_look)

    def post_and_look(self, due: float) -> None:
        post = self.write_post(due)
        if post is not None and self.looks:
            self.look_for(post["id"], due)

    def look_for(self, post_id: int, sent_at: float) -> None:
        """Poll a friend's feed until the post is there."""
        error: Exception | None = None
        with self.waiting(NO_REQUEST, VISIBLE, sent_at):
            while not self.shows(post_id):
                if time.time() > sent_at + VISIBLE_WITHIN_S:
                    error = TimeoutError(f"not visible within {VISIBLE_WITHIN_S} s")
                    break
                gevent.sleep(max(LOOK_AGAIN_S, LOOK_AGAIN * (time.time() - sent_at)))
        self.environment.events.request.fire(
            request_type=NO_REQUEST,
            name=VISIBLE,
            start_time=sent_at,
            response_time=(time.time() - sent_at) * 1000,
            response_length=0,
            exception=error,
            context={},
        )

    def shows(self, post_id: int) -> bool:
        friend = self.people.friend_of(self.person)
        url = f"/v1/feed/?before={post_id + 1}&limit=1"
        page = self.answer_to(friend, "GET", url, 200, time.time(), name="/v1/feed/")
        return page is not None and any(post["id"] == post_id for post in page["posts"])
