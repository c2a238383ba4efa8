"""What a feed costs the app server and Redis, beside a request that is answered with a constant."""

from collections.abc import Sequence
from functools import partial
from http.client import HTTPConnection
from statistics import median

from lab.bench.json_lines import measurements, no_result
from lab.bench.record import Record
from lab.bench.site import Site
from lab.bench.targets import Target
from lab.progress import Advance
from launch.processes import RunFailed, free_port
from launch.service import gunicorn, is_ready

FEED, CONSTANT = "GET /v1/feed/", "a constant"
ROUNDS, REQUESTS = 11, 200


def bench_requests(site: Site, record: Record, advance: Advance) -> None:
    """Record the CPU of both through one app server; they take turns, medians of ROUNDS."""
    advance("requests")
    target, port = Target("ring", "sqlite", uses_redis=True), free_port()
    with site.serving(target) as env:
        tokens = _fill(site, env)
        argv = [*gunicorn(port), "bench.wsgi"]
        site.processes.start("web", argv, env | {"WEB_WORKERS": "1", "WEB_THREADS": "0"})
        try:
            site.processes.wait_until("web", partial(is_ready, port))
            _compare(site, Client(port, tokens), record)
        finally:
            site.processes.stop("web")


class Client:
    """Somebody who asks over one connection, each time with the next token."""

    def __init__(self, port: int, tokens: Sequence[str]) -> None:
        self._connection = HTTPConnection("127.0.0.1", port)
        self._headers = [{"Authorization": f"Bearer {token}"} for token in tokens]

    def ask(self, path: str, count: int) -> bytes:
        """Ask so often, and return the last answer. Raises RunFailed on any but 200."""
        body = b""
        for number in range(count):
            headers = self._headers[number % len(self._headers)]
            self._connection.request("GET", path, headers=headers)
            answer = self._connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RunFailed(f"{path}: {answer.status} {body[:200].decode(errors='replace')}")
        return body


def _fill(site: Site, env: dict[str, str]) -> list[str]:
    command = ["bench_feeds", *site.grid.arguments("people")]
    figures = [measurement.figures for measurement in measurements(site.processes, command, env)]
    if not figures:
        raise no_result(site.processes)
    tokens: list[str] = figures[-1]["tokens"]
    return tokens


def _compare(site: Site, client: Client, record: Record) -> None:
    size = len(client.ask("/v1/feed/", REQUESTS))
    paths = {CONSTANT: f"/constant/{size}/", FEED: "/v1/feed/"}
    client.ask(paths[CONSTANT], REQUESTS)
    used: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
    for _ in range(ROUNDS):
        for name, path in paths.items():
            before = site.processes.ran_s()
            client.ask(path, REQUESTS)
            after = site.processes.ran_s()
            used[name].append((after["web"] - before["web"], after["redis"] - before["redis"]))
    for name, seconds in used.items():
        web_s, redis_s = map(median, zip(*seconds, strict=True))
        record.add_request(name, size, REQUESTS, web_s=web_s, redis_s=redis_s)
