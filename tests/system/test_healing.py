"""Timelines are lost under load, at random moments, while readers compare every page."""

import json
import os
import random
import threading
import time
from contextlib import closing
from http.client import HTTPConnection

import pytest
from redis import Redis

from tests.system.processes import JSON, SEED, Running

pytestmark = pytest.mark.alone

MOMENTS = int(os.environ.get("HEALING_MOMENTS", "3"))
LATEST_S = 1.0
"""Age at which an accepted post must be in the feeds."""
PAGES, LIMIT = 8, 100
"""What a reader reads of a feed: some seconds of posts."""
VARIANT = "mysql_tuned-outbox-ring"
LOGGED = "mysql_tuned-outbox-log"


class Readers:
    """Read random feeds, and compare each page with the accepted posts of friends."""

    def __init__(self, running, count=2):
        self.running = running
        self.friends = friendships(running)
        self.pages, self.compared, self.wrong, self.statuses = 0, 0, [], {}
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(n,)) for n in range(count)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _read(self, number):
        rng = random.Random(number)
        with closing(HTTPConnection("127.0.0.1", self.running.service.port, timeout=20)) as http:
            while not self._stopping.is_set():
                owner = rng.randint(1, SEED.people)
                self.read(http, owner)

    def read(self, http, owner):
        """Read the first pages of a feed and compare them; return the last status."""
        asked_at, posts, before = time.monotonic(), [], ""
        for _ in range(PAGES):
            path = f"/v1/feed/?limit={LIMIT}{before}"
            status, page = request(http, self.running, owner, "GET", path)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status != 200:
                return status
            self.pages += 1
            posts += page["posts"]
            if page["next"] is None:
                break
            before = f"&before={posts[-1]['id']}"
        self._compare(owner, asked_at, posts)
        return status

    def _compare(self, owner, asked_at, posts):
        friends = self.friends[owner] | {owner}
        ids = [post["id"] for post in posts]
        end = ids[-1] if len(ids) == PAGES * LIMIT else 0
        must = {
            post["id"]
            for at, post in list(self.running.accepted)
            if at < asked_at - LATEST_S and post["author"] in friends and post["id"] >= end
        }
        self.compared += len(must)
        missing = must - set(ids)
        foreign = [post["id"] for post in posts if post["author"] not in friends]
        if missing or foreign or ids != sorted(set(ids), reverse=True):
            self.wrong.append((owner, sorted(missing)[:5], foreign[:5], len(ids)))


def audited(running):
    """Drain and audit; what is left to the database is no fault here."""
    running.audit()
    (env,) = running.service.environments
    accepted = f"--accepted={running.folder / 'accepted.csv'}"
    told = running.service.manage("audit_timelines", env, "--json", accepted, ok=(0, 1))
    return json.loads(told)


def request(http, running, person, method, path):
    headers = {"Authorization": f"Bearer {running.tokens[person - 1]}"} | JSON
    try:
        http.request(method, path, None, headers)
        answer = http.getresponse()
        body = answer.read()
    except OSError:
        http.close()
        return None, None
    return answer.status, json.loads(body) if body else None


def friendships(running):
    with closing(running._connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT person_id, friend_id FROM accounts_friendship")
        found = {person: set() for person in range(1, SEED.people + 1)}
        for person, friend in cursor.fetchall():
            found[person].add(friend)
        return found


@pytest.fixture
def running(request, tmp_path):
    with Running(getattr(request, "param", VARIANT), tmp_path) as running:
        time.sleep(1)
        yield running


@pytest.fixture
def redis(running):
    with Redis.from_url(running.service.environments[0]["REDIS_URL"]) as client:
        yield client


def empty(redis):
    redis.flushall()


def evict(redis):
    """Take half of the keys, whatever they are."""
    keys = redis.keys("timeline:*")
    redis.delete(*random.sample(keys, len(keys) // 2))


def spoil(redis):
    """Put values of another type in place of some timelines, or logs."""
    keys = redis.keys("timeline:*}:[0-9]*") + redis.keys("timeline:*}:log")
    for key in random.sample(keys, 20):
        with redis.pipeline() as at_once:  # a delivery in between would make the key again
            at_once.delete(key).sadd(key, "not a timeline").execute()


@pytest.mark.parametrize(
    ("running", "fault"),
    [(VARIANT, empty), (LOGGED, evict), (LOGGED, spoil)],
    indirect=["running"],
)
def test_a_lost_timeline_is_whole_in_every_page(fault, running, redis):
    held = []
    with Readers(running) as readers:
        for _ in range(MOMENTS):
            time.sleep(random.uniform(0.5, 1.5))
            held.append(redis.dbsize())
            at = time.monotonic()
            fault(redis)
            time.sleep(0.5)
            assert running.accepted_between(at, time.monotonic()) > 0
        pages_at_the_end = readers.pages
        time.sleep(LATEST_S)
    audit = audited(running)

    assert readers.wrong == []
    assert set(readers.statuses) <= {200, 503}
    assert readers.pages > pages_at_the_end > MOMENTS
    assert readers.compared > 1000
    assert min(held) > SEED.people / 2  # there was something to lose
    assert (audit["missing"], audit["duplicated"], audit["unexpected"]) == (0, 0, 0)
    assert audit["posts"] >= len(running.accepted)


def test_without_floors_a_lost_timeline_is_short(tmp_path, monkeypatch):
    """The control: absent timelines begin as if nothing were below what they get."""
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "tests.system.planted")
    with Running(VARIANT, tmp_path) as running:
        time.sleep(1)
        url = running.service.environments[0]["REDIS_URL"]
        with Redis.from_url(url) as redis, Readers(running) as readers:
            time.sleep(2 * LATEST_S)
            before = list(readers.wrong)
            redis.flushall()
            time.sleep(2 * LATEST_S)

    assert before == []
    assert readers.wrong


def test_changed_friendships_show_at_once_under_load(running):
    """Two people end and begin a friendship as fast as they can; one of them reads in between."""
    one, other = 1, 2
    readers = Readers(running)
    changes = 0
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=20)) as http:
        until = time.monotonic() + 2 * MOMENTS
        while time.monotonic() < until:
            status, _ = request(http, running, one, "DELETE", f"/v1/me/friends/{other}/")
            assert status == 204
            readers.friends[one].discard(other)
            assert readers.read(http, one) == 200
            status, _ = request(http, running, one, "PUT", f"/v1/me/friends/{other}/")
            assert status == 204
            readers.friends[one].add(other)
            assert readers.read(http, one) == 200
            changes += 2
    audit = audited(running)

    assert readers.wrong == []
    assert changes > 10
    assert readers.compared > 1000
    assert (audit["missing"], audit["duplicated"], audit["unexpected"]) == (0, 0, 0)
