"""Servers that stop answering: probes answer all the same, and few requests wait."""

import time
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from statistics import median

import psutil
import pytest

from lab.faults.running import Repeated, serving

pytestmark = pytest.mark.alone

PROBES, FEED = ("/healthz", "/readyz"), "/v1/feed/"
READERS = 20 * [FEED]
FROZEN_S = 6
PROBED_WITHIN_S = 1.0
REFUSED_AT_ONCE_S = 0.5
AGAIN_S = 2.0
"""Seconds after which all is as before."""


class Clients(Repeated):
    """Ask again and again, each on a new connection; collect (path, status, asked, answered)."""

    def __init__(self, running, *paths):
        super().__init__([partial(self._ask, path) for path in paths])
        self.running, self.answers = running, []

    def _ask(self, path):
        headers = {"Authorization": f"Bearer {self.running.tokens[0]}"}
        port = self.running.service.port
        while not self.stopping.wait(0.05):
            at = time.monotonic()
            with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                answer.read()
            self.answers.append((path, answer.status, at, time.monotonic()))

    def statuses(self, path, start, end):
        """Return the statuses of what was asked and answered in a period."""
        return {status for status, _ in self.between(path, start, end)}

    def between(self, path, start, end):
        return [
            (status, answered - asked)
            for of, status, asked, answered in self.answers
            if of == path and start <= asked and answered <= end
        ]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with serving("mysql_tuned-outbox-ring", tmp_path_factory.mktemp("run"), clients=0) as running:
        yield running


@pytest.mark.parametrize("role", ["redis", "database"])
def test_a_frozen_server_keeps_few_waiting_and_no_probe(running, role):
    (pid,) = running.processes.pids(role)
    with running.load(clients=4), Clients(running, *PROBES, *READERS) as clients:
        time.sleep(1)
        begun = time.monotonic()
        psutil.Process(pid).suspend()
        time.sleep(FROZEN_S)
        ended = time.monotonic()
        psutil.Process(pid).resume()
        time.sleep(AGAIN_S + 1)
        now = time.monotonic()

    probes = [it for path in PROBES for it in clients.between(path, 0, now)]
    assert max(seconds for _, seconds in probes) < PROBED_WITHIN_S
    assert clients.statuses("/healthz", 0, now) == {200}
    assert clients.statuses("/readyz", begun + 1, ended) == {503}
    assert clients.statuses(FEED, begun + 1, ended) == {503}
    refused = [seconds for _, seconds in clients.between(FEED, begun, ended)]
    assert median(refused) < REFUSED_AT_ONCE_S
    assert clients.statuses("/readyz", ended + AGAIN_S, now) == {200}
    assert running.accepted_between(0, begun) > 0
    assert running.accepted_between(ended + AGAIN_S, now) > 0
    assert running.audit()["ok"]
