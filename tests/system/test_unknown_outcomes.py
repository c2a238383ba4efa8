"""A database that freezes while posts are under way: the answer tells what may be stored."""

import json
import time
from collections import defaultdict
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.client import HTTPException
from itertools import count

import MySQLdb
import pytest

from lab.faults.running import JSON, serving
from lab.running.threads import repeated
from launch.processes import frozen

pytestmark = pytest.mark.faults

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


def posting(running, client, answers):
    """Post one text per step, each once; collect text → (status, answer)."""
    with closing(running.connection(30)) as http:
        for number in count():
            text = f"text {client}.{number}"
            with suppress(OSError, HTTPException):
                answers[text] = post(running, http, text)
            if text not in answers:
                http.close()
            yield


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
    answers = {}
    clients = (partial(next, posting(running, number, answers)) for number in range(CLIENTS))
    with repeated(*clients, every_s=0.01):
        for _ in range(FREEZES):
            time.sleep(0.7)
            with frozen(running.processes.pids("database")):
                time.sleep(READ_TIMEOUT_S + CONNECT_S + 1.5)  # what follows is refused at once
        time.sleep(1)
    time.sleep(1)  # what the database had received is stored
    return answers


def test_a_post_that_is_answered_not_stored_is_not_stored(running):
    texts = defaultdict(set)
    for text, (status, body) in posted_while_freezing(running).items():
        texts["accepted" if status == 201 else body.get("code")].add(text)

    found = set(stored(running))
    assert texts["not_stored"]
    assert not texts["not_stored"] & found
    assert texts["outcome_unknown"] & found  # so it was worth saying
    assert texts.keys() == {"accepted", "not_stored", "outcome_unknown"}
    assert texts["accepted"] <= found <= texts["accepted"] | texts["outcome_unknown"]


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
    with closing(running.connection(30)) as client:
        with commits_held(running):
            status, body = post(running, client, "keyed", with_key=True)
        repeats = [post(running, client, "keyed", with_key=True) for _ in range(3)]

    assert (status, body["code"]) == (503, "outcome_unknown")
    assert {(status, post["body"]) for status, post in repeats} == {(201, "keyed")}
    assert len({post["id"] for _, post in repeats}) == 1
    assert stored(running).count("keyed") == 1
