"""Workers and servers that end while clients with kept-alive connections use them."""

import os
import signal
import threading
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException

import psutil
import pytest

from lab.faults.running import wait_for
from tests.web.test_slow_worker import SHORT, SLOW, pid_of, serving

ENDS_WITHIN_S = 60
"""Far more than the requests take, and far less than gunicorn would wait for others."""


class Client(threading.Thread):
    """Asks again and again on one connection, and opens it again only when it was told to."""

    def __init__(self, port, path, pause_s, ended):
        super().__init__()
        self.port, self.path, self.pause_s, self.ended = port, path, pause_s, ended
        self.answers, self.failures = [], []

    def run(self):
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            while not self.ended.wait(self.pause_s):
                try:
                    if connection.sock is None:
                        connection.connect()
                except ConnectionRefusedError:
                    continue
                try:
                    connection.request("POST" if self.path == SLOW else "GET", self.path)
                    answer = connection.getresponse()
                    self.answers.append((answer.status, int(answer.read().split()[0])))
                except (OSError, HTTPException) as error:
                    self.failures.append(repr(error))
                    connection.close()


@contextmanager
def clients(port):
    ended = threading.Event()
    kinds = [(SHORT, 0.0), (SHORT, 0.001), (SHORT, 0.02), (SHORT, 0.5), (SLOW, 0.0)]
    found = [Client(port, *kind, ended) for kind in kinds]
    for client in found:
        client.start()
    try:
        time.sleep(0.5)
        yield found
    finally:
        ended.set()
        for client in found:
            client.join()


@pytest.mark.parametrize("options", [[], ["--reuse-port"]], ids=["one port", "shared port"])
def test_new_workers_take_over_without_a_failed_request(options, tmp_path):
    with serving(tmp_path, options=options) as port:
        before = pid_of(port, SHORT), pid_of(port, SLOW)
        with clients(port) as found:
            os.kill(psutil.Process(before[0]).ppid(), signal.SIGHUP)
            wait_for(lambda: not any(map(psutil.pid_exists, before)))
            time.sleep(0.5)
        after = pid_of(port, SHORT), pid_of(port, SLOW)

    assert [client.failures for client in found] == [[]] * len(found)
    assert {status for client in found for status, _ in client.answers} == {200}
    assert len({*before, *after}) == 4
    slow = {pid for client in found if client.path == SLOW for _, pid in client.answers}
    assert slow == {before[1], after[1]}


def test_a_stopping_server_answers_all_requests_that_it_took(tmp_path):
    with serving(tmp_path, options=[f"--graceful-timeout={2 * ENDS_WITHIN_S}"]) as port:
        master = psutil.Process(pid_of(port, SHORT)).parent()
        with clients(port) as found:
            master.terminate()
            wait_for(lambda: not master.is_running() or master.status() == "zombie", ENDS_WITHIN_S)

    assert [client.failures for client in found] == [[]] * len(found)
    assert {status for client in found for status, _ in client.answers} == {200}
