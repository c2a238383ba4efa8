"""The stream as a process, and clients that read it."""

import contextlib
import json
import random
import sys
import time
from http.client import HTTPConnection
from threading import Thread

from django.conf import settings

from accounts.authentication import access_tokens
from launch.processes import HERE, Processes, free_port
from tests.conftest import database_url


@contextlib.contextmanager
def streaming(folder, *options):
    """Run a process that streams the test's database, in a role with its port; yield both."""
    port = free_port()
    with Processes(folder / "logs") as processes:
        start(processes, port, *options)
        yield processes, port


def start(processes, port, *options):
    env = {"DATABASE_URL": database_url(), "SECRET_KEY": settings.SECRET_KEY}
    command = (sys.executable, "manage.py", "stream", f"--bind={HERE}:{port}", *options)
    processes.start(f"stream {port}", command, env)
    processes.wait_until(f"stream {port}", lambda: is_following(port), within_s=120)


def is_following(port):
    with contextlib.suppress(OSError), contextlib.closing(HTTPConnection(HERE, port)) as http:
        http.request("GET", "/healthz")
        return http.getresponse().status == 200
    return False


def token_of(person_id):
    ((_, token),) = access_tokens([person_id])
    return token


def ask(port, token, last_id="", timeout_s=60, scheme="Bearer"):
    """Return the connection and the answer, whose body hasn't been read."""
    http = HTTPConnection(HERE, port, timeout=timeout_s)
    headers = {"Authorization": f"{scheme} {token}", "Last-Event-ID": last_id}
    http.request("GET", "/v1/feed/stream", headers=headers)
    return http, http.getresponse()


class Client(Thread):
    """Reads a person's stream, and comes back until it is stopped."""

    def __init__(self, person_id, port):
        super().__init__()
        self._token, self._port = token_of(person_id), port
        self.events = []
        """(event, data, monotonic time) each."""
        self.last_id, self.opened, self._is_stopped = "", 0, False
        self.statuses = []
        self.start()

    def run(self):
        while not self._is_stopped:
            with contextlib.suppress(OSError):
                self._read()
            time.sleep(random.uniform(0.01, 0.1))

    def _read(self):
        http, answer = ask(self._port, self._token, self.last_id, timeout_s=10)
        self.opened += 1
        self.statuses.append(answer.status)
        with contextlib.closing(http):
            event = {}
            while answer.status == 200 and (line := answer.readline().decode()):
                name, _, value = line.rstrip("\n").partition(": ")
                if line != "\n":
                    event[name] = value
                    continue
                self.last_id = event.get("id", self.last_id)
                if "event" in event:
                    data = json.loads(event["data"])
                    self.events.append((event["event"], data, time.monotonic()))
                event = {}

    def stop(self):
        self._is_stopped = True

    def shown(self, event="post"):
        return [data.get("id") for name, data, _ in self.events if name == event]
