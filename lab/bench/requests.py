"""What a feed costs the app server and Redis, beside a request that is answered with a constant."""

from collections.abc import Sequence
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from statistics import median

from lab.bench.json_lines import measurements, no_result
from lab.bench.record import Record
from lab.bench.site import Site
from lab.bench.targets import Target
from lab.progress import Advance
from launch.processes import RunFailed, free_port
from launch.service import gunicorn, is_ready

FEED, CONSTANT, EXCHANGE = "GET /v1/feed/", "a constant", "a constant after a PING to Redis"
ROUNDS, REQUESTS, AT_ONCE = 11, 400, 8


def bench_requests(site: Site, record: Record, advance: Advance) -> None:
    """Record the CPU of each through one app server; they take turns, medians of ROUNDS."""
    advance("requests")
    target, port = Target("ring", "sqlite", uses_redis=True), free_port()
    with site.serving(target) as env:
        tokens = _fill(site, env)
        argv = [*gunicorn(port), "bench.wsgi"]
        site.processes.start("web", argv, env | {"WEB_WORKERS": "1", "WEB_THREADS": "0"})
        try:
            site.processes.wait_until("web", partial(is_ready, port))
            _compare(site, Clients(port, tokens), record)
        finally:
            site.processes.stop("web")


class Clients:
    """Some who ask at once, each over one connection, so that nobody who answers sleeps between
    two requests: to be woken costs as much as much of the work."""

    def __init__(self, port: int, tokens: Sequence[str]) -> None:
        self._connections = [HTTPConnection("127.0.0.1", port) for _ in range(AT_ONCE)]
        self._headers = cycle({"Authorization": f"Bearer {token}"} for token in tokens)

    def ask(self, path: str) -> bytes:
        """Ask REQUESTS times, and return the last answer. Raises RunFailed on any but 200."""
        body = b""
        for connection in self._connections:
            self._ask(connection, path)
        for number in range(REQUESTS):
            connection = self._connections[number % AT_ONCE]
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RunFailed(f"{path}: {answer.status} {body[:200].decode(errors='replace')}")
            if number < REQUESTS - AT_ONCE:
                self._ask(connection, path)
        return body

    def _ask(self, connection: HTTPConnection, path: str) -> None:
        connection.request("GET", path, headers=next(self._headers))


def _fill(site: Site, env: dict[str, str]) -> list[str]:
    command = ["bench_feeds", *site.grid.arguments("people")]
    figures = [measurement.figures for measurement in measurements(site.processes, command, env)]
    if not figures:
        raise no_result(site.processes)
    tokens: list[str] = figures[-1]["tokens"]
    return tokens


def _compare(site: Site, clients: Clients, record: Record) -> None:
    size = len(clients.ask("/v1/feed/"))
    paths = {CONSTANT: f"/constant/{size}/", EXCHANGE: f"/exchange/{size}/", FEED: "/v1/feed/"}
    for path in paths.values():
        clients.ask(path)
    used: dict[str, list[tuple[float, float]]] = {name: [] for name in paths}
    for _ in range(ROUNDS):
        for name, path in paths.items():
            before = site.processes.ran_s()
            clients.ask(path)
            after = site.processes.ran_s()
            used[name].append((after["web"] - before["web"], after["redis"] - before["redis"]))
    for name, seconds in used.items():
        web_s, redis_s = map(median, zip(*seconds, strict=True))
        record.add_request(name, size, REQUESTS, web_s=web_s, redis_s=redis_s)
