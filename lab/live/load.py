"""The load of the live page: open arrivals whose rates change while it runs.

    python -m lab.live.load http://127.0.0.1:8000 FOLDER FRIENDS

Reads the rates from a file in the folder four times per second, and once per second replaces
another one by the figures so far. Ends with the process that started it.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import cycle
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab.live.figures import Rates, Sample
from lab.live.lookout import Lookout, Post
from lab.systems.api import Person, read_people
from locustfiles.connections import DROPPED, Answer, Connections, Request
from locustfiles.open_load import FEED, POST, head, post_by, refusal

STEP_S = 0.25
SAMPLE_EVERY_S = 1.0
TIMEOUT_S = 10.0
MOST_UNANSWERED = 500
"""More arrivals are not sent, and count as failed."""
STATUS = "/statusz"
COUNTS = ("offered", "accepted", "refused", "failed", "reads", "reads_failed")
BY_STATUS = {201: "accepted", 429: "refused", 503: "refused"}


class LiveLoad:
    """A service under posts, reads and look-ups, and their outcomes."""

    def __init__(self, host: str, people: Sequence[Person], friends: int) -> None:
        url = urlsplit(host)
        self.counts = dict.fromkeys(COUNTS, 0)
        self._sampled, self._sampled_at = self.counts.copy(), time.time()
        """The counts of the last sample."""
        self._status: dict[str, Any] = {}
        """What the service has said since the last sample."""
        self._answer_ms: list[float] = []
        self._why_failed: Counter[str] = Counter()
        self._commonest = ""
        self._asked_at: float | None = None
        """When the oldest question without an answer was asked: an answer may be of that time."""
        address = url.hostname or "127.0.0.1", url.port or 80
        self._connections = Connections(
            address, self._done, most=MOST_UNANSWERED, timeout_s=TIMEOUT_S
        )
        tokens = [person.token for person in random.sample(people, len(people))]
        self.lookout = Lookout(people, friends, url.netloc)
        self._posts = cycle([post_by(token, url.netloc) for token in tokens])
        self._reads = cycle([_read(token, url.netloc) for token in tokens])
        self._ask = Request("GET", STATUS, head("GET", STATUS, url.netloc, ""), self._tell)

    def step(self, rates: Rates, start: float) -> None:
        """Send what is due in the next STEP_S."""
        step_end = start + STEP_S
        self._connections.wait(0)  # also where this step is late
        due = list(_arrivals(rates.posts_per_s, start, step_end))
        self.counts["offered"] += len(due)
        posts = zip(due, self._posts, strict=False)
        reads_per_s = rates.posts_per_s * rates.reads_per_post
        reads = zip(_arrivals(reads_per_s, start, step_end), self._reads, strict=False)
        looks = self.lookout.requests(start, STEP_S)
        self._connections.offer(merge(posts, reads, looks, key=itemgetter(0)))
        self._connections.wait_until(step_end)

    def sample(self) -> Sample:
        """Return the figures since the last sample, and ask for the service's own."""
        times, self._answer_ms = sorted(self._answer_ms), []
        if self._why_failed:
            self._commonest = self._why_failed.most_common(1)[0][0]
            self._why_failed.clear()
        status, self._status = self._status, {}
        backlog = status.get("backlog", {})
        now, before = time.time(), self._sampled
        seconds = now - self._sampled_at
        self._sampled, self._sampled_at = self.counts.copy(), now
        self._asked_at = self._asked_at or now
        self._connections.send(self._ask, now)
        return Sample(
            at=now,
            totals=self._sampled,
            rates={name: (self._sampled[name] - before[name]) / seconds for name in COUNTS},
            why_failed=self._commonest,
            answer_ms={"p50": _part(times, 0.5), "p99": _part(times, 0.99)},
            lag_ms=status.get("lag_ms", {"p50": None, "p99": None}),
            backlog=backlog.get("posts"),
            oldest_s=(backlog["oldest_age_s"] or 0.0) if backlog else None,
            **self.lookout.figures(),
        )

    def _done(self, request: Request, due: float, answer: Answer | None, error: str) -> None:
        if request.name == FEED:
            self.counts["reads"] += not error
            self.counts["reads_failed"] += bool(error)
        elif request.name == POST:
            self._posted(answer, error, time.time(), due)

    def _posted(self, answer: Answer | None, error: str, ended: float, due: float) -> None:
        kind = BY_STATUS.get(answer.status, "failed") if answer else "failed"
        self.counts[kind] += 1
        if answer and kind == "accepted":
            post = json.loads(answer.body)
            self.lookout.accepted(Post(post["id"], post["author"], ended))
        elif kind == "failed":
            self._why_failed[error] += 1
        if error != DROPPED:
            self._answer_ms.append((ended - due) * 1000)

    def _tell(self, answer: Answer) -> str:
        if refused := refusal(answer):
            return refused
        self._status = json.loads(answer.body)
        if self._asked_at is not None:
            self.lookout.backlog(self._asked_at, self._status["backlog"])
            self._asked_at = None
        return ""


def run(host: str, folder: Path, friends: int) -> None:
    """Put a service under load; ``friends``: of everybody, on a ring."""
    load = LiveLoad(host, read_people(folder / "tokens.csv"), friends)
    parent, sampled_at, start = os.getppid(), 0.0, time.time()
    while os.getppid() == parent:
        load.step(Rates.read(folder), start)
        start = max(start + STEP_S, time.time() - STEP_S)
        if start >= sampled_at + SAMPLE_EVERY_S:
            sampled_at = start
            load.sample().write(folder)


def _arrivals(rate: float, start: float, until: float) -> Iterator[float]:
    """Yield the times of independent arrivals."""
    due = start
    while rate and (due := due + random.expovariate(rate)) < until:
        yield due


def _read(token: str, host: str) -> Request:
    return Request("GET", FEED, head("GET", FEED, host, token), refusal)


def _part(times: Sequence[float], share: float) -> float | None:
    return round(times[int(share * len(times))], 1) if times else None


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
