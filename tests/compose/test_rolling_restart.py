"""HAProxy, with the settings of compose, before two app servers that are replaced under load."""

import os
import signal
import sqlite3
import time
from contextlib import closing, contextmanager
from urllib.request import urlopen

import psutil
import pytest

from lab.faults.running import wait_for
from launch.processes import Processes, free_port
from launch.servers.proxies import HAPROXY_SETTINGS, HAProxy
from launch.service import Seed, Service, app_server, is_ready
from launch.variants import Variant
from tests.compose.clients import Clients

pytestmark = pytest.mark.faults

CLIENTS = 8
ENDS = 10
"""Most times that an app server is killed until that hits a request."""
LEFT_S = 2
"""HAProxy asks twice per second, and twice, whether an app server is leaving."""
SERVERS = {"one": "app1", "another": "app_2"}
"""What HAProxy calls the app servers."""
LEAST_ANSWERS = 20
SAFEGUARD = "    option httpchk\n"


class Fleet:
    """App servers with one database behind HAProxy, and their clients."""

    def __init__(self, processes, folder, server, settings):
        self.processes, self.folder = processes, folder
        service = Service(Variant.named("sqlite-outbox-setbased@proxy"), processes, folder)
        service.prepare(Seed(people=20, friends=4))
        app = {"WEB_SERVER": server, "WEB_WORKERS": "2", "WEB_THREADS": "4"}
        self.env = service.environments[0] | app
        self.ports = {name: free_port() for name in SERVERS}
        for name in self.ports:
            self.start(name)
        apps = [f"127.0.0.1:{port}" for port in self.ports.values()]
        unused = {"probes": apps[0], "slow": apps[0]}
        (file := folder / "haproxy.cfg").write_text(settings)
        self.proxy = HAProxy(
            processes, folder, port=service.port, apps=apps, settings=file, **unused
        )
        self.proxy.start()
        tokens = [it.split(",")[1] for it in service.tokens.read_text().split()[1:]]
        self.clients = Clients(service.port, tokens[:CLIENTS])

    def start(self, name):
        port, env = self.ports[name], {"WEB_LEAVING_FILE": str(self.leaving(name))}
        self.processes.start(name, app_server(port), self.env | env)
        self.processes.wait_until(name, lambda: is_ready(port))

    def leaving(self, name):
        return self.folder / f"leaving-{name}"

    def is_used(self, name):
        """Return whether HAProxy sends requests to an app server."""
        return self.tells(f'status{{proxy="app",server="{SERVERS[name]}",state="UP"}} 1')

    def is_idle(self, name):
        """Return whether no request of HAProxy's is under way in an app server."""
        return self.tells(f'current_sessions{{proxy="app",server="{SERVERS[name]}"}} 0')

    def tells(self, figure):
        """Return whether HAProxy tells Prometheus a figure of a server."""
        with urlopen(f"http://127.0.0.1:{self.proxy.metrics_port}/metrics", timeout=20) as answer:
            return f"haproxy_server_{figure}\n" in answer.read().decode()

    def replace(self, name, end):
        """End an app server that HAProxy should use no more, and start it again."""
        for pid in sorted(self.pids(name)) if end == signal.SIGKILL else ():
            os.kill(pid, end)
        self.processes.stop(name)
        self.leaving(name).unlink()
        self.start(name)

    def pids(self, name):
        (main,) = map(psutil.Process, self.processes.pids(name))
        return {it.pid for it in (main, *main.children(recursive=True))}

    def clients_are_answered(self):
        answers = self.clients.answers
        return min(answers["GET", 200], answers["POST", 201]) > LEAST_ANSWERS

    def written(self):
        with closing(sqlite3.connect(self.folder / "feed-0.sqlite3")) as database:
            return {number for (number,) in database.execute("SELECT id FROM feed_post")}


@contextmanager
def running(folder, server, settings):
    with Processes(folder / "logs") as processes:
        yield Fleet(processes, folder, server, settings)


def replacing(fleet, ends):
    """Replace all processes of each app server; yield before, after, and when it is used again."""
    for name, end in zip(fleet.ports, ends, strict=True):
        pids = fleet.pids(name)
        wait_for(fleet.clients_are_answered)
        yield
        fleet.leaving(name).touch()
        wait_for(lambda name=name: not fleet.is_used(name) and fleet.is_idle(name))
        fleet.replace(name, end)
        wait_for(fleet.clients_are_answered)
        yield
        assert len(pids) > 2
        assert not pids & fleet.pids(name)
        wait_for(lambda name=name: fleet.is_used(name))
        wait_for(fleet.clients_are_answered)
        yield


@pytest.mark.parametrize(
    ("server", "ends"),
    [
        ("gunicorn", (signal.SIGTERM, signal.SIGKILL)),
        ("granian", (signal.SIGTERM, signal.SIGTERM)),
    ],
    ids=["gunicorn", "granian"],
)
def test_no_request_fails_while_app_servers_are_replaced_in_turn(server, ends, tmp_path):
    with running(tmp_path, server, HAPROXY_SETTINGS.read_text()) as fleet:
        with fleet.clients.working():
            phases = [fleet.clients.forget() for _ in replacing(fleet, ends)]
        failures = [it for _, failed in phases for it in failed] + fleet.clients.failures
        assert failures == []
        assert fleet.clients.posts.keys() == fleet.written()

    assert len(phases) == 6
    for answers, _ in phases:
        assert answers.keys() == {("GET", 200), ("POST", 201)}
        assert min(answers.values()) > LEAST_ANSWERS


def test_without_the_safeguard_the_end_of_an_app_server_takes_requests_with_it(tmp_path):
    settings = HAPROXY_SETTINGS.read_text()
    assert SAFEGUARD in settings
    with running(tmp_path, "gunicorn", settings.replace(SAFEGUARD, "")) as fleet:
        clients = fleet.clients
        with clients.working():
            for _ in range(ENDS):
                fleet.leaving("one").touch()
                time.sleep(LEFT_S)
                assert fleet.is_used("one")
                fleet.replace("one", signal.SIGKILL)
                if clients.failures or clients.answers["POST", 502]:
                    return

    pytest.fail("no request was under way")
