"""Posts and reads at random times, like those of independent people, from one lean process.

    python -m locustfiles.open_load --posts-per-s 500,1000,1500,2500
    python -m locustfiles.open_load --posts-per-s 20 --reads-per-s 200 --deep-share 0.1

Arrivals are open: people come, answered or not. Every arrival is a row in requests.csv with its
outcome: answered, refused, timed out, lost, or dropped because too many were unanswered. A reader
opens the first page; some go on to the fifth, each page as soon as they have the one before.
"""

import argparse
import csv
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from heapq import merge
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from locustfiles.connections import Answer, Connections, Request
from locustfiles.texts import random_body

POST, FEED = "/v1/posts/", "/v1/feed/"
DEEP = f"{FEED}?before"
DEEPEST = 5
"""Page that those who go on reach."""
LEAST_POSTS = 2000
"""Different posts at least, and two per person; they are built before the load."""
AT_ONCE_BEFORE = 4
ACCEPTED = ("id", "author", "created_at", "sent_at")
REQUESTED = "timestamp request_type name response_time_ms response_length exception".split()
UNANSWERED = ("timestamp", "request_type", "name", "waited_ms")
MOST_UNANSWERED = 15_000
"""Connections, if this process may open so many files."""
PROBED, PROBE_EVERY_S, PROBE_GIVES_UP_S = "/readyz", 0.1, 5.0


class Step(NamedTuple):
    rate: float
    """Requests per second."""
    start: float
    """Of the measured part, in Unix time."""
    end: float
    late_p99_ms: float
    """By how much the generator itself was late."""


class OpenLoad:
    """A service under open arrivals; the outcomes are kept in memory until they are written."""

    def __init__(self, options: argparse.Namespace) -> None:
        url = urlsplit(options.host)
        self.host = url.netloc
        self.address = url.hostname or "127.0.0.1", url.port or 80
        self._options = options
        self._rows: list[tuple[object, ...]] = []
        self._posts: list[tuple[float, bytes]] = []
        self.connections = Connections(
            self.address, self._note, most=options.most_unanswered, timeout_s=options.timeout_s
        )

    def send_before(self, requests: Iterable[Request]) -> None:
        """Send requests before the load, few at once. Raises SystemExit if one fails."""
        for request in requests:
            self._wait_until_fewer(AT_ONCE_BEFORE)
            self.connections.send(request, time.time())
        self._wait_until_fewer(1)
        failed = sorted({str(error) for *_, error in self._rows if error})
        self._rows.clear()
        if failed:
            raise SystemExit(f"before the load: {', '.join(failed)}")

    def finish(self, steps: Sequence[Step]) -> None:
        """Wait for the last answers and write all files."""
        self._wait_until_fewer(1)
        self.connections.close()
        posts = ({**json.loads(body), "sent_at": f"{due:.6f}"} for due, body in self._posts)
        _write(self._options.requests, REQUESTED, self._rows)
        accepted = ([post[name] for name in ACCEPTED] for post in posts)
        _write(self._options.accepted, ACCEPTED, accepted)
        _write(self._options.unanswered, UNANSWERED, [])  # every arrival has its outcome
        _write(self._options.steps, Step._fields, steps)

    def _wait_until_fewer(self, busy: int) -> None:
        while self.connections.busy >= busy:
            self.connections.wait(0.1)

    def _note(self, request: Request, due: float, answer: Answer | None, error: str) -> None:
        took_ms = f"{(time.time() - due) * 1000:.3f}"
        length = len(answer.body) if answer else 0
        self._rows.append((f"{due:.6f}", request.method, request.name, took_ms, length, error))
        if answer and not error and request.name == POST:
            self._posts.append((due, answer.body))


class Readers:
    """Visits of readers in random order, of whom an exact share goes on to the fifth page."""

    def __init__(self, tokens: Sequence[str], host: str, deep_share: float) -> None:
        self._tokens, self._host, self._deep_share = tokens, host, deep_share

    def __iter__(self) -> Iterator[Request]:
        for turn, token in enumerate(cycle(self._tokens)):
            is_deep = int((turn + 1) * self._deep_share) > int(turn * self._deep_share)
            yield self.first_page(token, DEEPEST - 1 if is_deep else 0)

    def first_page(self, token: str, more: int = 0) -> Request:
        return self._page(FEED, FEED, token, more)

    def _page(self, name: str, path: str, token: str, more: int) -> Request:
        page = Request("GET", name, head("GET", path, self._host, token), wrong_with)
        return page._replace(follow=partial(self._next_page, token, more)) if more else page

    def _next_page(self, token: str, more: int, answer: Answer) -> Request:
        """Return the next page; after the last one the first, so that no page is left out."""
        following = json.loads(answer.body)["next"]
        if following is None:
            return self.first_page(token, more - 1)
        url = urlsplit(following)
        return self._page(DEEP, f"{url.path}?{url.query}", token, more - 1)


def pages_per_visit(deep_share: float) -> float:
    return 1 + deep_share * (DEEPEST - 1)


def wrong_with(answer: Answer) -> str:
    """Return what is wrong with a page; empty for one that has posts, newest first, none twice."""
    if refused := refusal(answer):
        return refused
    ids = [post["id"] for post in json.loads(answer.body)["posts"]]
    if not ids:
        return "page without posts"
    return "" if ids == sorted(set(ids), reverse=True) else "page out of order"


def who_comes(tokens: Sequence[str], cold_share: float) -> list[str]:
    """Return those who post and read, in random order: the same ones for the same people."""
    shuffled = random.Random(1).sample(tokens, len(tokens))  # noqa: S311
    return shuffled[: max(1, round(len(tokens) * (1 - cold_share)))]


def random_times(rate: float, start: float, end: float) -> list[float]:
    """Return the times of ``rate`` arrivals per second, in order."""
    return sorted(random.uniform(start, end) for _ in range(round(rate * (end - start))))  # noqa: S311


def read_tokens(path: str) -> list[str]:
    with Path(path).open(newline="") as file:
        return [row["token"] for row in csv.DictReader(file)]


def post_by(token: str, host: str) -> Request:
    """Return a request that posts a random text."""
    body = json.dumps({"body": random_body()}).encode()
    about = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    data = head("POST", POST, host, token, *about) + body
    return Request("POST", POST, data, partial(refusal, wanted=201))


def head(method: str, path: str, host: str, token: str, *more: str) -> bytes:
    """Return the head of a request, with these lines more."""
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", *more)
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def refusal(answer: Answer, wanted: int = 200) -> str:
    """Return what an answer says that has another status than the wanted one; empty if not."""
    when = "with" if b"\r\nretry-after:" in answer.head else "without"
    return "" if answer.status == wanted else f"status {answer.status} {when} Retry-After"


def run(options: argparse.Namespace) -> None:
    load = OpenLoad(options)
    people = who_comes(read_tokens(options.tokens), options.cold_share)
    different = max(LEAST_POSTS, 2 * len(people))
    posts = cycle([post_by(token, load.host) for token in islice(cycle(people), different)])
    readers = Readers(people, load.host, options.deep_share)
    visits, visits_per_s = iter(readers), options.reads_per_s / pages_per_visit(options.deep_share)
    if visits_per_s:
        load.send_before(map(readers.first_page, people))  # fills the caches

    def offer(posts_per_s: float, start: float, end: float) -> list[float]:
        writes = zip(random_times(posts_per_s, start, end), posts, strict=False)
        reads = zip(random_times(visits_per_s, start, end), visits, strict=False)
        return load.connections.offer(merge(writes, reads, key=itemgetter(0)))

    steps, at = [], time.time()
    with probing(load.address, options.probes) if options.probes else nullcontext():
        for posts_per_s in options.posts_per_s:
            start = at + options.warm_up_s
            offer(posts_per_s, at, start)
            at = start + options.run_time_s
            late_ms = sorted(late_s * 1000 for late_s in offer(posts_per_s, start, at)) or [0.0]
            late_p99_ms = round(late_ms[int(0.99 * len(late_ms))], 2)
            steps.append(Step(posts_per_s + options.reads_per_s, start, at, late_p99_ms))
        load.finish(steps)


@contextmanager
def probing(address: tuple[str, int], file: str) -> Iterator[None]:
    """Probe the service's health from a process of its own while the block runs."""
    prober = multiprocessing.Process(target=_probe, args=(*address, file), daemon=True)
    prober.start()
    yield
    prober.terminate()
    prober.join()


def _probe(host: str, port: int, file: str) -> None:
    """Write (timestamp, seconds, status) on and on, each of a new connection; 0: no answer."""
    with open(file, "w", newline="", buffering=1) as out:  # noqa: PTH123
        rows = csv.writer(out)
        rows.writerow(("timestamp", "seconds", "status"))
        due = time.time()
        while True:
            started = time.time()
            status = _status_of(host, port)
            rows.writerow((f"{started:.6f}", f"{time.time() - started:.6f}", status))
            due = max(due + PROBE_EVERY_S, time.time())
            time.sleep(max(0.0, due - time.time()))


def _status_of(host: str, port: int) -> int:
    try:
        with closing(HTTPConnection(host, port, timeout=PROBE_GIVES_UP_S)) as connection:
            connection.request("GET", PROBED)
            answer = connection.getresponse()
            answer.read()
            return answer.status
    except (OSError, HTTPException):
        return 0


def _write(path: str, columns: Sequence[str], values: Iterable[Iterable[object]]) -> None:
    with open(path, "w", newline="") as file:  # noqa: PTH123
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(values)


def _rates(text: str) -> list[float]:
    return [float(rate) for rate in text.split(",")]


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    options = argparse.ArgumentParser(
        prog="python -m locustfiles.open_load",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("--host", default="http://127.0.0.1:8000")
    options.add_argument("--tokens", default="var/tokens.csv")
    options.add_argument("--posts-per-s", type=_rates, required=True, help="one or more, in turn")
    options.add_argument("--reads-per-s", type=float, default=0.0, help="pages")
    options.add_argument("--deep-share", type=_share, default=0.1, help="visits that go to page 5")
    options.add_argument("--cold-share", type=_share, default=0.0, help="people who never come")
    options.add_argument("--warm-up-s", type=float, default=3.0, help="of each rate; not measured")
    options.add_argument("--run-time-s", type=float, default=10.0, help="of each rate")
    options.add_argument("--timeout-s", type=float, default=5.0, help="until a client gives up")
    unanswered = "more arrivals are dropped, and counted"
    options.add_argument("--most-unanswered", type=int, default=MOST_UNANSWERED, help=unanswered)
    for name in ("requests", "unanswered", "accepted", "steps"):
        options.add_argument(f"--{name}", default=os.devnull, help="a CSV file to write")
    options.add_argument("--probes", help="probe the health meanwhile; a CSV file to write")
    return options.parse_args(argv)


if __name__ == "__main__":
    run(parse())
