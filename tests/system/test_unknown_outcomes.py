"""A database that freezes while posts are under way: the answer tells what may be stored."""

import json
import threading
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import count

import MySQLdb
import psutil
import pytest

from lab.faults.running import JSON, Repeated, serving

pytestmark = pytest.mark.alone

READ_TIMEOUT_S = 1
CONNECT_S = 2
"""Seconds that a new connection may take, in place of one that didn't answer."""
FREEZES = 2
CLIENTS = 12


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DB_READ_TIMEOUT_S", str(READ_TIMEOUT_S))
        folder = tmp_path_factory.mktemp("run")
        with serving("mysql_tuned-outbox-ring", folder) as running:
            yield running


class Posters(Repeated):
    """Post one text after the other, each once; collect text → (status, answer)."""

    def __init__(self, running):
        super().__init__(CLIENTS * [self._post])
        self.running, self.answers = running, {}
        self._numbers, self._lock = count(), threading.Lock()

    def _post(self):
        with closing(HTTPConnection("127.0.0.1", self.running.service.port, timeout=30)) as client:
            while not self.stopping.wait(0.01):
                with self._lock:
                    text = f"text {next(self._numbers)}"
                try:
                    self.answers[text] = post(self.running, client, text)
                except (OSError, HTTPException):
                    client.close()

    def told(self, code):
        return {text for text, (_, body) in self.answers.items() if body.get("code") == code}


def post(running, client, text, with_key=False):
    headers = {"Authorization": f"Bearer {running.tokens[0]}"} | JSON
    if with_key:
        headers["Idempotency-Key"] = text
    client.request("POST", "/v1/posts/", json.dumps({"body": text}), headers)
    answer = client.getresponse()
    return answer.status, json.loads(answer.read())


def stored(running):
    """Return the stored texts, of posts that were stored twice twice."""
    return [text for (text,) in running.rows("SELECT body FROM feed_post")]


def posted_while_freezing(running):
    (pid,) = running.processes.pids("database")
    with Posters(running) as posters:
        for _ in range(FREEZES):
            time.sleep(0.7)
            psutil.Process(pid).suspend()
            time.sleep(READ_TIMEOUT_S + CONNECT_S + 1.5)  # what follows is refused at once
            psutil.Process(pid).resume()
        time.sleep(1)
    time.sleep(1)  # what the database had received is stored
    return posters


def test_a_post_that_is_answered_not_stored_is_not_stored(running):
    posters = posted_while_freezing(running)

    found = set(stored(running))
    assert posters.told("not_stored")
    assert not posters.told("not_stored") & found
    assert posters.told("outcome_unknown") & found  # so it was worth saying
    assert {code for _, body in posters.answers.values() if (code := body.get("code"))} <= {
        "not_stored",
        "outcome_unknown",
    }
    accepted = {text for text, (status, _) in posters.answers.items() if status == 201}
    assert accepted <= found <= accepted | posters.told("outcome_unknown")


@contextmanager
def commits_held(running):
    """Let the database take statements, but finish no COMMIT (MariaDB's lock for backups)."""
    port = running.service.servers[0].port
    with closing(MySQLdb.connect(host="127.0.0.1", port=port, user="root")) as admin:
        for stage in ("START", "BLOCK_COMMIT"):
            admin.cursor().execute(f"BACKUP STAGE {stage}")
        yield
        admin.cursor().execute("BACKUP STAGE END")


def test_a_repeat_with_the_same_key_returns_the_one_post(running):
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=30)) as client:
        with commits_held(running):
            status, told = post(running, client, "keyed", with_key=True)
        repeats = [post(running, client, "keyed", with_key=True) for _ in range(3)]

    assert (status, told["code"]) == (503, "outcome_unknown")
    assert {(status, body["body"]) for status, body in repeats} == {(201, "keyed")}
    assert len({body["id"] for _, body in repeats}) == 1
    assert stored(running).count("keyed") == 1
