"""Readers who compare every page that they get with the posts that were accepted."""

import json
import random
import time
from collections import defaultdict
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection

from tests.system.processes import JSON, Repeated, wait_for

PENDING = "SELECT count(*) FROM feed_post WHERE delivered_at IS NULL"
LATEST_S = 1.0
"""Age at which an accepted post must be in the feeds."""
PAGES, LIMIT = 8, 100
"""What a reader reads of a feed: some seconds of posts."""
LATELY = 5000
"""Posts of everybody that surely are more than these pages."""


class Readers(Repeated):
    """Read random feeds, and compare each page with the accepted posts of friends."""

    def __init__(self, running, count=2):
        super().__init__([partial(self._read, number) for number in range(count)])
        self.running = running
        self.friends = defaultdict(set)
        for person, friend in running.rows("SELECT person_id, friend_id FROM accounts_friendship"):
            self.friends[person].add(friend)
        self.pages, self.compared, self.wrong, self.statuses = 0, 0, [], {}
        self.gone = set()
        """Id and time of posts that a restore of the database took back."""
        self._blind_until = self._on_time_from = 0.0
        self._held_at = float("inf")

    @contextmanager
    def blind(self, more_s=0.0):
        """Compare no page that was asked for while the block runs, or within ``more_s`` after."""
        self._blind_until = float("inf")
        yield
        self._blind_until = time.monotonic() + more_s

    @contextmanager
    def held_up(self):
        """Expect the posts that are accepted while the block runs when a drainer is back."""
        self._held_at = time.monotonic()
        yield
        newest = self.running.query("SELECT max(id) FROM feed_post")
        wait_for(lambda: self.running.query(f"{PENDING} AND id <= {newest}") == 0)
        time.sleep(LATEST_S)
        self._held_at = float("inf")

    def connection(self):
        return HTTPConnection("127.0.0.1", self.running.service.port, timeout=20)

    def unfriend(self, http, one, other):
        assert self._change("DELETE", http, one, other) == 204
        self.friends[one].discard(other)
        self.friends[other].discard(one)

    def befriend(self, http, one, other):
        assert self._change("PUT", http, one, other) == 202
        assert self._change("PUT", http, other, one) == 204
        self.friends[one].add(other)
        self.friends[other].add(one)

    def _change(self, method, http, one, other):
        status, _ = request(http, self.running, one, method, f"/v1/me/friends/{other}/")
        return status

    def _read(self, number):
        rng = random.Random(number)
        with closing(self.connection()) as http:
            while not self.stopping.is_set():
                self.read(http, rng.randint(1, self.running.seed.people))
                http.close()  # the next reader may meet another process

    def read(self, http, owner):
        """Read the first pages of a feed and compare them; return the last status."""
        asked_at, posts, before = time.monotonic(), [], ""
        due_at = min(asked_at, self._held_at) - LATEST_S
        seeing = asked_at > self._blind_until
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
        if seeing and time.monotonic() > self._blind_until:
            self._compare(owner, due_at, posts)
        return status

    def _compare(self, owner, due_at, posts):
        friends = self.friends[owner] | {owner}
        ids = [post["id"] for post in posts]
        end = ids[-1] if len(ids) == PAGES * LIMIT else 0
        must = {
            post["id"]
            for at, post in self.running.accepted[-LATELY:]
            if at < due_at and post["author"] in friends and post["id"] >= end
        }
        self.compared += len(must)
        missing = must - set(ids)
        foreign = [post["id"] for post in posts if post["author"] not in friends]
        gone = self.gone & {(post["id"], post["created_at"]) for post in posts}
        if missing or foreign or gone or ids != sorted(set(ids), reverse=True):
            found = sorted(missing)[:5], foreign[:5], sorted(gone)[:5]
            self.wrong.append((owner, *found, len(ids), time.monotonic()))


def request(http, running, person, method, path):
    """Ask, again on a new connection if the server has closed this one.

    A server that stops closes kept connections, and may take a new one that it doesn't answer.
    """
    headers = {"Authorization": f"Bearer {running.tokens[person - 1]}"} | JSON
    for _ in range(3):
        try:
            http.request(method, path, None, headers)
            answer = http.getresponse()
            body = answer.read()
        except OSError:
            http.close()
        else:
            return answer.status, json.loads(body) if body else None
    return None, None
