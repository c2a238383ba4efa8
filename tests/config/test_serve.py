"""What every app server does, and how it starts and ends."""

import json
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.request import urlopen

import psutil
import pytest

from launch.processes import Processes, free_port
from tests.commands import python

SERVERS = {"gunicorn": {"WEB_THREADS": "4"}, "granian": {"WEB_THREADS": "2"}}
SERVE = ("-m", "config.serve")
WITHIN_S = 60


class Served:
    """An app server with one worker."""

    def __init__(self, processes, port, folder):
        self.processes, self.port, self.folder = processes, port, folder

    @property
    def master(self):
        return psutil.Process(self.processes.pids("web")[0])

    def answers(self):
        try:
            return self.ask("GET", "/healthz") == 200
        except OSError:
            return False

    def ask(self, method, path, body=None):
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_S)) as client:
            client.request(method, path, body, {"Content-Type": "application/json"})
            answer = client.getresponse()
            answer.read()
            return answer.status

    @contextmanager
    def request_in_flight(self, username):
        """Sign somebody up, who waits for SQLite's lock while the block runs; yield the answers."""
        person, answers = {"username": username, "password": "correct horse battery"}, []

        def sign_up():
            answers.append(self.ask("POST", "/v1/signup/", json.dumps(person)))

        thread = threading.Thread(target=sign_up)
        with closing(sqlite3.connect(self.folder / "feed.sqlite3")) as other:
            other.execute("BEGIN IMMEDIATE")
            thread.start()
            time.sleep(1)
            assert not answers
            yield answers
            other.rollback()
        thread.join()


@pytest.fixture(scope="module", params=SERVERS)
def web(request, tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("web"), free_port()
    env = {
        "DATABASE_URL": f"sqlite:///{folder}/feed.sqlite3",
        "HASHING_SLOTS_DIR": f"{folder}/slots",
        "PROMETHEUS_MULTIPROC_DIR": f"{folder}/metrics",
        "LOG_REQUESTS": "1",
        "WEB_SERVER": request.param,
        "WEB_WORKERS": "1",
        **SERVERS[request.param],
    }
    migrate = (sys.executable, "manage.py", "migrate", "--verbosity=0")
    with Processes(folder / "logs") as processes:
        processes.call("migrate", migrate, env)
        processes.start("web", [sys.executable, *SERVE, f"--bind=127.0.0.1:{port}"], env)
        web = Served(processes, port, folder)
        processes.wait_until("web", web.answers)
        yield web


def failed_start(folder, *options, **environment):
    database = {"DATABASE_URL": f"sqlite:///{folder}/feed.sqlite3"}
    done = python(*SERVE, *options, **database, **environment)
    assert done.returncode != 0
    return done.stderr


WRONG = {"FEED_STRATEGY": "chunked", "FEED_TIMELINE_STORE": "pull"}


@pytest.mark.parametrize(
    ("environment", "refusal"),
    [
        ({"WEB_SERVER": "gunicorn"} | WRONG, "feed.E002"),
        ({"WEB_SERVER": "granian"} | WRONG, "feed.E002"),
        ({"WEB_SERVER": "nonsense"}, "nonsense not in ['gunicorn', 'granian']"),
    ],
)
def test_a_server_with_bad_settings_does_not_start(environment, refusal, tmp_path):
    assert refusal in failed_start(tmp_path, f"--bind=127.0.0.1:{free_port()}", **environment)


def test_a_port_that_is_taken_is_refused(web, tmp_path):
    bind = f"127.0.0.1:{web.port}"

    assert f"can't serve on {bind}" in failed_start(tmp_path, f"--bind={bind}")


def test_requests_are_logged_and_counted(web):
    assert web.ask("GET", "/v1/docs/") == 200

    web.processes.wait_until(
        "web", lambda: '"GET /v1/docs/ HTTP/1.1" 200' in web.processes.log_tail("web")
    )
    scraped = urlopen(f"http://127.0.0.1:{web.port}/metrics", timeout=WITHIN_S).read().decode()
    assert 'feed_requests_total{method="GET",route="healthz",status="200"}' in scraped


def test_a_process_that_is_killed_is_replaced(web):
    (worker,) = web.master.children()
    worker.kill()
    psutil.wait_procs([worker], timeout=WITHIN_S)

    web.processes.wait_until("web", web.answers)


def test_a_reload_answers_the_request_in_flight_and_all_later_ones(web):
    (worker,) = web.master.children()
    with web.request_in_flight("ada") as answers:
        web.master.send_signal(signal.SIGHUP)
        time.sleep(0.5)

    assert answers == [201]
    assert psutil.wait_procs([worker], timeout=WITHIN_S)[1] == []
    assert web.answers()


def test_the_request_in_flight_is_answered_at_the_end(web):
    """The last test of a server."""
    with web.request_in_flight("bob") as answers:
        web.master.terminate()
        time.sleep(0.5)

    assert answers == [201]
