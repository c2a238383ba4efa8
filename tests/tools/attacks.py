"""What an outsider does to a service, and how the others fare meanwhile.

``python -m tests.tools.attacks [VARIANT [PART OF A NAME]]`` prints a JSON line per attack; the
variant needs MySQL.
"""

import json
import multiprocessing
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from lab.faults.running import JSON, serving
from lab.running.threads import repeated
from launch.service import Seed
from tests.half_requests import KINDS, halves, slow_readers

POST = ("POST", "/v1/posts/", '{"body": "text"}')
FEED = ("GET", "/v1/feed/", None)
PAGE = "/v1/feed/?limit=100"
FILE = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
"""Of more than a megabyte."""
SEED = Seed(people=200, friends=100, password="a password that nobody guesses")
POSTS = ["seed_posts", "--each=100"]
TIMEOUT_S = 10


def ask_for(running, request, seconds, people=8, every_s=0.08) -> dict:
    """Let people ask for the same again and again, each on a connection of their own."""
    answers: list[tuple[str, float]] = []

    def ask_on(person):
        port, token = running.service.port, running.tokens[20 + person]
        with closing(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as http:
            due = time.monotonic() + every_s * person / people
            while True:
                time.sleep(max(0, due - time.monotonic()))
                asked = time.monotonic()
                answer, _ = answer_of(http, *request, token=token)
                answers.append((status_of(answer), time.monotonic() - asked))
                due = max(due + every_s, time.monotonic())
                yield

    with repeated(*(partial(next, ask_on(person)) for person in range(people))):
        time.sleep(seconds)
    times = [took_s * 1000 for _, took_s in answers]
    ok = sum(status in ("200", "201") for status, _ in answers)
    cuts = [round(ms, 1) for ms in quantiles(times, n=20)] if len(times) > 1 else [None] * 19
    return {"ok_per_s": round(ok / seconds, 1), "p50_ms": cuts[9], "p95_ms": cuts[18]}


def answer_of(http, method, path, body=None, token=None):
    """Return the answer and its body; without an answer, None and nothing."""
    headers = JSON | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        http.request(method, path, body, headers)
        answer = http.getresponse()
        return answer, answer.read()
    except (OSError, HTTPException):
        http.close()
        return None, b""


def status_of(answer):
    """Return a status as it is counted: with Retry-After, or None without an answer."""
    again = answer is not None and "Retry-After" in answer.headers
    return f"{answer and answer.status}{' Retry-After' * again}"


def guess_passwords(numbers, token):
    """Log in with wrong passwords, each time as somebody else out of a few."""
    body = {"username": f"person{next(numbers) % 10 + 1}", "password": f"wrong {next(numbers)}"}
    return "POST", "/v1/token/", json.dumps(body), None


@contextmanager
def asking(running, statuses, attack, connections):
    """Ask from another process while the block runs; count its statuses."""
    context = multiprocessing.get_context("spawn")
    stop, told = context.Event(), context.Queue()
    arguments = (attack, running.service.port, running.tokens[0], connections, stop, told)
    process = context.Process(target=_attack, args=arguments)
    process.start()
    assert told.get(timeout=30) == "begun"
    try:
        yield
    finally:
        stop.set()
        statuses.update(told.get(timeout=60))
        process.join()


def _attack(attack, port, token, connections, stop, told):
    statuses: Counter = Counter()

    def loop(number):
        numbers = count(number * 1000)
        with closing(HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)) as http:
            while True:
                *request, bearer = attack(numbers, token)
                answer, _ = answer_of(http, *request, token=bearer)
                statuses[status_of(answer)] += 1
                if answer and answer.status in (429, 503):
                    time.sleep(0.01)
                yield

    with repeated(*(partial(next, loop(number)) for number in range(connections))):
        told.put("begun")
        stop.wait()
    told.put(statuses)


def sending(running, statuses, kind, connections):
    """Begin requests as somebody who may make them, and don't send the rest."""
    bearer = f"localhost\r\nAuthorization: Bearer {running.tokens[0]}".encode()
    return halves(running.service.port, KINDS[kind].replace(b"localhost", bearer), connections)


def not_reading(running, statuses, path, connections):
    """Ask for something large, and don't read it."""
    token = running.tokens[0]
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    return slow_readers(running.service.port, request.encode(), connections)


def compare(running, *, request, attack, seconds=8.0) -> dict:
    """Return how others fare without and with an attack."""
    statuses: Counter = Counter()
    before = ask_for(running, request, seconds)
    with attack(running, statuses):
        time.sleep(1)
        during = ask_for(running, request, seconds)
    return {"idle": before, "attacked": during, "attackers got": statuses}


def attackable(variant, folder):
    return serving(variant, folder, seed=SEED, seeding=[POSTS], guarded=True)


ATTACKS = {
    "wrong passwords, 10 clients; others post": partial(
        compare, request=POST, attack=partial(asking, attack=guess_passwords, connections=10)
    ),
    "30 sockets of a byte; others post": partial(
        compare, request=POST, attack=partial(sending, kind="byte", connections=30)
    ),
    "200 half bodies; others post": partial(
        compare, request=POST, attack=partial(sending, kind="body", connections=200)
    ),
    "200 slow readers of a page; others read": partial(
        compare, request=FEED, attack=partial(not_reading, path=PAGE, connections=200)
    ),
    "200 slow readers of a large file; others read": partial(
        compare, request=FEED, attack=partial(not_reading, path=FILE, connections=200)
    ),
}


def main() -> None:
    variant = sys.argv[1] if len(sys.argv) > 1 else "mysql_tuned-outbox-ring"
    chosen = sys.argv[2] if len(sys.argv) > 2 else ""
    with TemporaryDirectory() as folder, attackable(variant, Path(folder)) as running:
        for name, attack in ATTACKS.items():
            if chosen in name:
                print(json.dumps({"attack": name, **attack(running)}), flush=True)


if __name__ == "__main__":
    main()
