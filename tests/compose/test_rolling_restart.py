"""nginx, with the settings of compose, before two app servers that are restarted under load."""

import os
import signal
import sqlite3
import time
from contextlib import closing

import pytest

from launch.processes import Processes, free_port
from launch.servers.proxies import Nginx
from launch.service import Seed, Service, gunicorn, is_ready
from launch.variants import Variant
from tests.compose.clients import Clients

FAIL_TIMEOUT_S = 2
"""Seconds for which nginx avoids an app server after failures (compose/nginx.conf)."""
CLIENTS = 8


class Fleet:
    """App servers with one database behind nginx, and their clients."""

    def __init__(self, processes, folder):
        self.processes, self.folder = processes, folder
        self.service = Service(Variant.named("sqlite-outbox-setbased"), processes, folder)
        self.service.prepare(Seed(people=20, friends=4))
        self.env = self.service.environments[0] | {"WEB_WORKERS": "2"}
        self.app_servers = {"one": free_port(), "another": free_port()}
        for role in self.app_servers:
            self.start(role)
        ports = [*self.app_servers.values()]
        Nginx(processes, folder / "nginx", port=self.service.port, app_ports=ports).start()
        tokens = [it.split(",")[1] for it in self.service.tokens.read_text().split()[1:]]
        self.clients = Clients(self.service.port, tokens[:CLIENTS])

    def start(self, role):
        port = self.app_servers[role]
        command = [part for part in gunicorn(port) if part != "--reuse-port"]
        self.processes.start(role, command, self.env)
        self.processes.wait_until(role, lambda: is_ready(port))

    def restart(self, role):
        self.processes.stop(role)
        self.start(role)

    def hang_up(self, role):
        """Let an app server replace its workers."""
        (pid,) = self.processes.pids(role)
        os.kill(pid, signal.SIGHUP)

    def written(self):
        with closing(sqlite3.connect(self.folder / "feed-0.sqlite3")) as database:
            return {number for (number,) in database.execute("SELECT id FROM feed_post")}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    with Processes(folder / "logs") as processes:
        yield Fleet(processes, folder)


@pytest.mark.alone
@pytest.mark.parametrize("renew", [Fleet.restart, Fleet.hang_up], ids=["restart", "HUP"])
def test_no_request_fails_while_app_servers_are_renewed_in_turn(renew, fleet):
    with fleet.clients.working():
        for role in fleet.app_servers:
            time.sleep(0.5)
            renew(fleet, role)
            time.sleep(FAIL_TIMEOUT_S + 0.5)

    assert fleet.clients.failures == []
    assert fleet.clients.answers.keys() == {("GET", 200), ("POST", 201)}
    assert sum(fleet.clients.answers.values()) > 200
    assert fleet.clients.posts.keys() == fleet.written()
