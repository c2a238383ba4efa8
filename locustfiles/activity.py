"""People look at their visits: the accumulated times, a day's visits and the summary in turn.

    locust -f locustfiles/activity.py --users 20 --arrivals open --headless --run-time 10s

With open arrivals as many requests a second as there are users, answered or not; with
--stop-timeout 30 Locust waits for the last answers.
"""

import random
from datetime import date, timedelta
from itertools import cycle, islice

from locust import events, task
from locust.argument_parser import LocustArgumentParser

from locustfiles.visitor import Visitor

DAYS = 28
"""Before the last day of the log; people ask about one of these."""
TIMES = "/v1/activity/times/"
VISITS = "/v1/activity/visits/"
SUMMARY = "/v1/activity/summary/"
PAGES = (TIMES, VISITS, SUMMARY)


@events.init_command_line_parser.add_listener
def add_arguments(parser: LocustArgumentParser) -> None:
    last_day = "the last day of the log, as manage.py seed_visits --until had it"
    parser.add_argument("--last-day", default="2025-12-31", help=last_day)


class Member(Visitor):
    """Somebody who looks at one page after the other, beginning with any."""

    connection_timeout = 30.0
    network_timeout = 30.0

    def on_start(self) -> None:
        self.last_day = date.fromisoformat(self.environment.parsed_options.last_day)
        self.pages = islice(cycle(PAGES), random.randrange(len(PAGES)), None)  # noqa: S311
        super().on_start()

    @task
    def look(self) -> None:
        page = next(self.pages)
        self.arrive("GET", page, lambda due: self.open_page(page, due))

    def open_page(self, page: str, due: float) -> None:
        day = self.last_day - timedelta(days=random.randrange(DAYS))  # noqa: S311
        url = page if page == SUMMARY else f"{page}?day={day}"
        self.answer_to(self.person, "GET", url, 200, due, name=page)
