"""What a post and a feed cost each app server, alone and behind a proxy."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from statistics import median
from typing import NamedTuple

from lab.bench.record import Record, each_us
from lab.bench.site import Site, measurements, no_result
from lab.bench.targets import Target
from lab.progress import Advance
from launch.processes import HERE, RunFailed, free_port
from launch.servers.proxies import HAProxy
from launch.service import app_server, is_ready
from launch.variants import GRANIAN, GUNICORN, PROXIED

APP_ROLES = ("web", "redis")
ROLES = (*APP_ROLES, "proxy")
ROUNDS, REQUESTS, AT_ONCE, READERS = 11, 100, 2, 50
NO_LIMITS = {f"FEED_BACKLOG_MAX_{of_what}": "0" for of_what in ("AGE_S", "POSTS", "OF_AUTHOR")}
"""The stores' posts have no receipts, and nobody drains."""


class Request(NamedTuple):
    method: str
    path: str
    status: int
    body: str | None = None

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


POST = Request("POST", "/v1/posts/", 201, '{"body": "A post of about as many words as others."}')
FEED = Request("GET", "/v1/feed/", 200)


def bench_requests(site: Site, record: Record, advance: Advance) -> None:
    """Record the CPU of each through one process; the servers take turns, medians of ROUNDS."""
    advance("requests")
    database = "mysql_tuned" if "mysql_tuned" in site.versions else "sqlite"
    target = Target("ring", database, uses_redis=True)
    with site.serving(target) as env:
        env |= {"FEED_STRATEGY": "outbox", **NO_LIMITS}
        options = [*site.grid.arguments("people"), f"--readers={READERS}"]
        tokens = [found.figures["tokens"] for found in measurements(site.processes, options, env)]
        if not tokens:
            raise no_result(site.processes)
        with ExitStack() as ended:
            for role in ("web", "proxy"):
                ended.callback(site.processes.stop, role)
            clients = {
                name: ended.enter_context(closing(Clients(port, tokens[-1])))
                for name, port in _started(site, env)
            }
            _compare(site, clients, record)


def _started(site: Site, env: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Start the app servers, each with a proxy beside it; yield the port of each way to ask."""
    for name in (GUNICORN, GRANIAN):
        port, proxy_port = free_port(), free_port()
        settings = {"WEB_SERVER": name, "WEB_WORKERS": "1"}
        site.processes.start("web", app_server(port), {**env, **settings})
        site.processes.wait_until("web", partial(is_ready, port))
        app, folder = f"{HERE}:{port}", site.folder / f"haproxy-{name}"
        proxy = HAProxy(site.processes, folder, port=proxy_port, apps=[app], probes=app, slow=app)
        proxy.start()
        yield name, port
        yield f"{name}{PROXIED}", proxy_port


class Clients:
    """Two who ask at once, each over one connection: what answers doesn't sleep between requests,
    and its threads don't compete for the interpreter, as at half load. Who posts doesn't read."""

    def __init__(self, port: int, tokens: Sequence[str]) -> None:
        self._connections = [HTTPConnection(HERE, port) for _ in range(AT_ONCE)]
        self._tokens = {POST: cycle(tokens[::2]), FEED: cycle(tokens[1::2])}

    def ask(self, request: Request) -> bytes:
        """Ask REQUESTS times, and return the last answer. Raises RunFailed on another status."""
        body = b""
        for connection in self._connections:
            self._ask(connection, request)
        for number in range(REQUESTS):
            connection = self._connections[number % AT_ONCE]
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != request.status:
                text = body[:200].decode(errors="replace")
                raise RunFailed(f"{request.name}: {answer.status} {text}")
            if number < REQUESTS - AT_ONCE:
                self._ask(connection, request)
        return body

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _ask(self, connection: HTTPConnection, request: Request) -> None:
        headers = {"Authorization": f"Bearer {next(self._tokens[request])}"}
        if request.body:
            headers["Content-Type"] = "application/json"
        connection.request(request.method, request.path, request.body, headers)


def _compare(site: Site, servers: Mapping[str, Clients], record: Record) -> None:
    turns = [(request, server) for request in (POST, FEED) for server in servers]
    sizes = {turn: len(servers[turn[1]].ask(turn[0])) for turn in turns}  # warms up, too
    used: defaultdict[tuple[Request, str], list[dict[str, float]]] = defaultdict(list)
    for _ in range(ROUNDS):
        for request, server in turns:
            before = site.processes.ran_s()
            servers[server].ask(request)
            after = site.processes.ran_s()
            used[request, server].append({role: after[role] - before[role] for role in ROLES})
    for (request, server), rounds in used.items():
        roles = ROLES if server.endswith(PROXIED) else APP_ROLES  # idle proxies probe app servers
        figures = {
            f"{role}_us": each_us(median(of_one[role] for of_one in rounds), REQUESTS)
            for role in roles
        }
        size = sizes[request, server]
        record.requests.append(
            {"request": request.name, "server": server, "bytes": size, **figures}
        )
    record.write()
