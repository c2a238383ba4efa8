"""People page through the most liked posts, and sometimes read one.

    locust -f replays/browse/locustfile.py --headless --fail-p99-ms 50 --shape smoke
    locust -f replays/browse/locustfile.py --headless --fail-p99-ms 50 --shape stress

needs people and likes (manage.py seed_people --tokens var/tokens.csv, manage.py seed_likes).
A visit is 11 requests: pages 1, 2, 3, a post, pages 1, 2, a post, pages 1, 2, 3, a post. Two more
users write, and record whether they and other readers see each write (--probes).
"""

import os
import random
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any
from urllib.parse import urlsplit

import gevent
from locust import LoadTestShape, events, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment

from locustfiles.arrivals import count_from
from locustfiles.rows import RowLog
from locustfiles.texts import random_body
from locustfiles.visitor import Visitor
from replays.browse.ramp import SHAPES, Probe, users_at

LISTING = "/v1/posts/?sort=-likes"
POST = "/v1/posts/[id]/"
LIKE = "/v1/posts/[id]/like/"
PROBE = "/v1/posts/[id]/ (probe)"
FIRST_PAGE, NEXT_PAGE, A_POST = "first page", "next page", "a post"
VISIT = (
    *(FIRST_PAGE, NEXT_PAGE, NEXT_PAGE, A_POST),
    *(FIRST_PAGE, NEXT_PAGE, A_POST),
    *(FIRST_PAGE, NEXT_PAGE, NEXT_PAGE, A_POST),
)
PROBERS = 2
LOOK_AGAIN_S = 0.05
LOOK_FOR_S = 0.8


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    shape = "how many users: " + ", ".join(f"{name} {count}" for name, count in SHAPES.items())
    peak = "number of users, instead of the shape's"
    probes = "write here what authors and other readers were shown"
    parser.add_argument("--shape", choices=list(SHAPES), default="load", help=shape)
    parser.add_argument("--peak", type=int, help=peak)
    parser.add_argument("--ramp-s", type=float, default=30, help="seconds of ramp-up and ramp-down")
    parser.add_argument("--hold-s", type=float, default=60, help="seconds with all users")
    parser.add_argument("--probes", default=os.devnull, help=probes, include_in_web_ui=False)


@events.init.add_listener
def prepare(environment: Environment, **kwargs: Any) -> None:
    options: Any = environment.parsed_options
    Prober.probes = RowLog(environment, options.probes, Probe._fields)


class Ramp(LoadTestShape):
    """Ramps up to all users, holds, and ramps down."""

    def tick(self) -> tuple[int, float] | None:
        assert self.runner is not None
        options: Any = self.runner.environment.parsed_options
        peak = options.peak or SHAPES[options.shape]
        users = users_at(self.get_run_time(), peak, options.ramp_s, options.hold_s)
        return None if users is None else (users + PROBERS, max(100, peak))


class Reader(Visitor):
    """A user who reads, starting anywhere in a visit."""

    def on_start(self) -> None:
        start = random.randrange(len(VISIT))  # noqa: S311
        self.visit = cycle(VISIT[start:] + VISIT[:start])
        self.following = ""
        self.shown: list[int] = []
        super().on_start()

    @task
    def look(self) -> None:
        step = next(self.visit)
        if step == A_POST and self.shown:
            self.arrive("GET", POST, self.read_post)
        else:
            url = self.following if step == NEXT_PAGE and self.following else LISTING
            self.arrive("GET", LISTING, partial(self.read_page, url))

    def read_page(self, url: str, due: float) -> None:
        page = self.answer_to(self.person, "GET", url, 200, due, name=LISTING)
        if page is not None:
            self.shown = [post["id"] for post in page["posts"]]
            following = urlsplit(page["next"] or "")
            self.following = following._replace(scheme="", netloc="").geturl()

    def read_post(self, due: float) -> None:
        url = f"/v1/posts/{random.choice(self.shown)}/"  # noqa: S311
        self.answer_to(self.person, "GET", url, 200, due, name=POST)


class Prober(Visitor):
    """A user who writes a post, likes it and deletes it, and reads it after each write."""

    fixed_count = PROBERS
    probes: RowLog
    post_id: int | None = None
    liked = False

    @task
    def probe(self) -> None:
        if self.post_id is None:
            self.arrive("POST", "/v1/posts/", self.write_post)
        elif not self.liked:
            self.arrive("PUT", LIKE, self.like_post)
        else:
            self.arrive("DELETE", POST, self.delete_post)

    def write_post(self, due: float) -> None:
        body = {"body": random_body()}
        post = self.answer_to(self.person, "POST", "/v1/posts/", 201, due, json=body)
        if post is not None:
            self.post_id, self.liked = post["id"], False
            self.look("post", lambda post: post is not None)

    def like_post(self, due: float) -> None:
        url = f"/v1/posts/{self.post_id}/like/"
        if self.change("PUT", url, due, name=LIKE):
            self.liked = True
            self.look("like", lambda post: post is not None and post["likes"] == 1)

    def delete_post(self, due: float) -> None:
        if self.change("DELETE", f"/v1/posts/{self.post_id}/", due, name=POST):
            written_at = self.look("delete", lambda post: post is None)
            self.look_as_others(written_at)
            self.post_id = None

    def change(self, method: str, url: str, due: float, name: str) -> bool:
        """Send a request that is answered with 204; return whether it succeeded."""
        with self.rest(method, url, headers=self.person.headers, name=name) as response:
            count_from(due, response)
            if response.status_code != 204:
                response.failure(f"status {response.status_code}")
                return False
            return True

    def look(self, what: str, shows_it: Callable[[Any], bool]) -> float:
        """Read one's own write at once; return when it was confirmed."""
        written_at = time.time()
        self.note(what, True, written_at, shows_it)
        return written_at

    def look_as_others(self, written_at: float) -> None:
        """Read without the cookie of a writer, until the post is gone or LOOK_FOR_S are over."""
        cookies = self.client.client.cookiejar
        assert cookies is not None
        while time.time() < written_at + LOOK_FOR_S:
            cookies.clear()
            if self.note("delete", False, written_at, lambda post: post is None):
                return
            gevent.sleep(LOOK_AGAIN_S)

    def note(
        self, what: str, own: bool, written_at: float, shows_it: Callable[[Any], bool]
    ) -> bool:
        """Record whether the post is shown as written; nothing without an answer."""
        read_at = time.time()
        url = f"/v1/posts/{self.post_id}/"
        with self.rest("GET", url, headers=self.person.headers, name=PROBE) as response:
            if response.status_code not in (200, 404):
                response.failure(f"status {response.status_code}")
                return False
            response.success()
            seen = shows_it(response.js if response.status_code == 200 else None)
        self.probes.write(*Probe(what, int(own), written_at, read_at, int(seen)))
        return seen
