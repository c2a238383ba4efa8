"""A small service that speaks docs/target-api.md, right or with a planted fault.

PORT=… TOKENS=… FRIENDSHIPS=… FAULT=… python -m tests.lab.planted.target
"""

import os
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from tests.answering import Answering, rows

FAULTS = ("", "drop", "duplicate", "stranger", "phantom", "forgery")


class Target(ThreadingHTTPServer):
    """Feeds in memory, each post delivered before its 201."""

    request_queue_size = 128

    def __init__(self, tokens, friendships, fault="", port=0):
        assert fault in FAULTS
        super().__init__(("127.0.0.1", port), Asked)
        self.person_of = tokens
        self.friends = defaultdict(set)
        for person, friend in friendships:
            self.friends[person].add(friend)
        self.fault = fault
        self.feeds = defaultdict(list)
        self.deliveries, self.ids, self.lock = count(1), count(1), Lock()

    def publish(self, author):
        with self.lock:
            post = {"id": next(self.ids), "author": author, "created_at": "2026-01-01T00:00:00Z"}
            for owner in (author, *self.friends[author]):
                self.deliver(owner, post, is_thousandth=not next(self.deliveries) % 1000)
        return post

    def deliver(self, owner, post, *, is_thousandth):
        feed, fault = self.feeds[owner], self.fault if is_thousandth else ""
        if fault == "forgery":
            post = post | {"author": owner}
        if fault != "drop":
            feed.append(post)
        if fault == "duplicate":
            feed.append(post)
        if fault == "phantom":
            feed.append(post | {"id": next(self.ids)})
        if fault == "stranger":
            feed.append(post | {"id": next(self.ids), "author": -1})

    def page(self, owner, before, limit):
        found = [it for it in self.feeds[owner][::-1] if before is None or it["id"] < before]
        more = "more" if len(found) > limit else None
        return {"posts": found[:limit], "next": more}


class Asked(Answering, BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, self.server.publish(self.person()))

    def do_PUT(self):
        friend, me = int(self.path.split("/")[-2]), self.person()
        self.server.friends[me].add(friend)
        self.answer(202, {})

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: int(value) for name, (value,) in parse_qs(url.query).items()}
        if url.path == "/readyz":
            self.answer(200, {})
        elif url.path == "/v1/me/friends/":
            self.answer(200, {"friends": sorted(self.server.friends[self.person()])})
        else:
            page = self.server.page(self.person(), query.get("before"), query["limit"])
            self.answer(200, page)


def main():
    tokens = {row["token"]: int(row["person_id"]) for row in rows("TOKENS")}
    friends = [(int(row["person_id"]), int(row["friend_id"])) for row in rows("FRIENDSHIPS")]
    port, fault = int(os.environ["PORT"]), os.environ.get("FAULT", "")
    Target(tokens, friends, fault, port).serve_forever()


if __name__ == "__main__":
    main()
