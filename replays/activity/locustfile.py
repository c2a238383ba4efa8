"""People read their visits: accumulated times, a day's visits and the summary in turn.

    locust -f replays/activity/locustfile.py --users 20 --arrivals open --headless --run-time 10s

Open arrivals send as many requests per second as there are users, answered or not; with
--stop-timeout 30 Locust waits for the last answers. As published, one page alone, many times within
one second, always for the same person:

    locust -f replays/activity/locustfile.py --users 20 --once times --headless --run-time 5s
"""

import random
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import count, cycle, islice
from typing import Any

import gevent
from locust import events, task
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.exception import StopUser

from locustfiles.arrivals import Open
from locustfiles.visitor import Visitor
from replays.activity import DAYS, LAST_DAY

PAGES = {name: f"/v1/activity/{name}/" for name in ("times", "visits", "summary")}
VOLLEY_AFTER_S = 2
"""By then all users have started."""


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    once = "all users request this page once, evenly within one second, as the first person"
    parser.add_argument("--once", choices=list(PAGES), help=once)


@events.test_start.add_listener
def begin(environment: Environment, **kwargs: Any) -> None:
    Volley.at = time.time() + VOLLEY_AFTER_S
    Volley.turns = count()


class Volley(Open):
    """One action per user, evenly spaced within one second."""

    at: float
    turns: Iterator[int]

    def begin(self) -> None:
        options: Any = self.user.environment.parsed_options
        self._due = self.at + next(self.turns) / options.num_users
        gevent.sleep(max(0.0, self._due - time.time()))


class Member(Visitor):
    """A user who requests one page after the other, starting with a random one."""

    connection_timeout = 30.0
    network_timeout = 30.0

    def on_start(self) -> None:
        self.pages = islice(cycle(PAGES.values()), random.randrange(len(PAGES)), None)  # noqa: S311
        if self.environment.parsed_options.once:
            self.person, self.arrivals = self.people.first(), Volley(self, pace_s=1.0)
            self.arrivals.begin()
        else:
            super().on_start()

    @task
    def look(self) -> None:
        once = self.environment.parsed_options.once
        page = PAGES[once] if once else next(self.pages)
        self.arrive("GET", page, lambda due: self.open_page(page, due))
        if once:
            raise StopUser

    def open_page(self, page: str, due: float) -> None:
        day = LAST_DAY - timedelta(days=random.randrange(DAYS))  # noqa: S311
        url = page if page == PAGES["summary"] else f"{page}?day={day}"
        self.answer_to(self.person, "GET", url, 200, due, name=page)
