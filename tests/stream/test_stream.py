"""The stream, from outside: processes of its own, clients that come and go, faults."""

import contextlib
import json
import socket
import time
import urllib.request
from collections import Counter
from threading import Event, Thread

import pytest
from django.db import connection, connections

from accounts.services import set_active
from feed.delivery import deliver
from feed.follows import unfriend
from feed.models import Post
from launch.processes import HERE
from tests.conftest import client_of
from tests.sessions import wait_until
from tests.stream.client import Client, ask, is_following, start, streaming, token_of

pytestmark = pytest.mark.django_db(transaction=True)
LONG_S = 60


@pytest.fixture
def process(tmp_path, friends):
    with streaming(tmp_path) as (processes, port):
        yield processes, port


@contextlib.contextmanager
def reading(*clients):
    """Wait until each has its first event, a gap; stop them at the end."""
    try:
        for client in clients:
            wait_until(lambda client=client: client.events, LONG_S)
        yield
    finally:
        for client in clients:
            client.stop()


def publish(author_id, count=1, body="x"):
    posts = [Post.objects.create(author_id=author_id, body=body) for _ in range(count)]
    deliver(posts)
    return [post.id for post in posts]


@contextlib.contextmanager
def posting(author_id, ids):
    """Publish while the block runs."""
    stopped = Event()

    def work():
        while not stopped.wait(0.02):
            ids.extend(publish(author_id))
        connections.close_all()

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def test_a_post_arrives_and_its_deletion_too(process):
    _, port = process
    with reading(friend := Client(2, port), stranger := Client(4, port)):
        (post_id,) = publish(1)
        wait_until(lambda: friend.shown(), LONG_S)
        client_of(1).delete(f"/v1/posts/{post_id}/")
        wait_until(lambda: friend.shown("gone"), LONG_S)

    page = {"id": post_id, "author": 1, "body": "x"}
    (post,) = (data for event, data, _ in friend.events if event == "post")
    assert post | page == post
    assert friend.shown("gone") == [post_id]
    assert [event for event, _, _ in friend.events] == ["gap", "post", "gone"]
    assert [event for event, _, _ in stranger.events] == ["gap"]


def test_no_event_of_an_author_is_sent_after_the_answer_to_an_unfriend(process):
    _, port = process
    ids = []
    with reading(client := Client(2, port)), posting(1, ids):
        wait_until(lambda: len(client.shown()) > 10, LONG_S)
        unfriend(2, 1)
        ended_at = time.monotonic()
        so_far = len(ids)
        wait_until(lambda: len(ids) > so_far + 20, LONG_S)
        wait_until(lambda: len(client.shown("gap")) == 2, LONG_S)  # the page has changed
        others = publish(3)
        wait_until(lambda: others[0] in client.shown(), LONG_S)

    late = [at - ended_at for _, data, at in client.events if data.get("author") == 1]
    assert max(late) < 0


def test_a_stream_ends_when_its_person_is_deactivated(process):
    _, port = process
    with reading(client := Client(2, port)):
        set_active(2, is_active=False)
        wait_until(lambda: client.opened > 1, LONG_S)
        wait_until(lambda: 401 in client.statuses, LONG_S)

    assert client.statuses[0] == 200


def test_without_a_valid_token_there_is_no_stream(process):
    for scheme, token in (("Bearer", "nonsense"), ("Basic", token_of(1))):
        http, answer = ask(process[1], token, scheme=scheme)
        with contextlib.closing(http):
            assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert "detail" in json.loads(answer.read())


def test_beyond_the_limit_clients_are_told_when_to_come_back(tmp_path, friends):
    with streaming(tmp_path, "--most=1") as (_, port), reading(Client(2, port)):
        http, answer = ask(port, token_of(1))
        with contextlib.closing(http):
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


def test_one_person_has_a_limit_of_their_own_and_who_left_is_forgotten(process):
    _, port = process
    with contextlib.ExitStack() as opened:
        for number in range(11):
            http, answer = ask(port, token_of(2))
            opened.callback(http.close)
            assert answer.status == (503 if number == 10 else 200)
        http, answer = ask(port, token_of(3))
        opened.callback(http.close)
        assert answer.status == 200
    health = f"http://{HERE}:{port}/healthz"
    wait_until(lambda: json.load(urllib.request.urlopen(health)) == {"streams": 0}, LONG_S)


def test_a_client_that_reads_nothing_does_not_stop_the_others(process):
    """Its events, more than all buffers hold, wait in the journal."""
    _, port = process
    request = (
        f"GET /v1/feed/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token_of(3)}\r\n\r\n"
    )
    with socket.socket() as slow, reading(client := Client(2, port)):
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
        slow.settimeout(LONG_S)
        slow.connect((HERE, port))
        slow.sendall(request.encode())
        text, body = b"", "x" * 2000
        while b"event: gap" not in text:
            text += slow.recv(65536)
        for _ in range(10):
            publish(1, 50, body)
            time.sleep(0.1)
        wait_until(lambda: len(client.shown()) == 500, LONG_S)
        wanted = f'"id":{max(client.shown())},'.encode()
        while wanted not in text:
            text += slow.recv(65536)

    counts = {post_id: text.count(b'data: {"id":%d,' % post_id) for post_id in client.shown()}
    assert set(counts.values()) == {1}, Counter(counts.values())


def test_a_process_that_is_told_to_stop_ends_its_streams_and_exits(process):
    processes, port = process
    with reading(client := Client(2, port)):
        processes.stop(f"stream {port}")
        opened = client.opened
        start(processes, port)
        (post_id,) = publish(1)
        wait_until(lambda: post_id in client.shown(), LONG_S)

    assert client.opened > opened
    assert client.shown("gap") == [None]


def test_a_database_that_is_away_ends_no_stream(process):
    """The journal's table is missing for a while."""
    _, port = process
    with reading(client := Client(2, port)):
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE feed_journalstep RENAME TO away")
            wait_until(lambda: not is_following(port), LONG_S)
            cursor.execute("ALTER TABLE away RENAME TO feed_journalstep")
        (post_id,) = publish(1)
        wait_until(lambda: post_id in client.shown(), LONG_S)

    assert client.opened == 1
