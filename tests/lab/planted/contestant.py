"""A feed that passes the challenge, or has a planted mistake.

FAULT=… python -m tests.lab.planted.contestant

Feeds are in memory; a log in FOLDER has what was accepted, and is read at the start.
"""

import json
import os
import time
from bisect import insort
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import BoundedSemaphore, Lock, Timer
from urllib.parse import parse_qs, urlsplit

from tests.answering import Answering, rows

FAULTS = {
    "drop": (1, "lacks post"),
    "double": (1, "is on a page twice"),
    "stranger": (1, "whom they don't follow"),
    "forged": (1, "is shown as person"),
    "left": (2, "after an unfollow"),
    "deleted": (2, "is shown: person"),
    "late": (3, "had to wait for longer than"),
    "forgets": (4, "lacks post"),
    "slow celebrity": (5, "beside a celebrity's"),
    "queues all": (6, "where"),
    "chunked": (6, "without a Content-Length"),
    "back": (3, "which it had shown"),
    "empty": (7, "which it had shown"),
    "no more": (1, "10 posts, next null"),
    "same page": (1, "were asked for"),
    "text ids": (1, "which is no post"),
    "used again": (2, "two posts have one id"),
    "refuses half": (3, "were not answered 201"),
    "follows again": (4, "after an unfollow"),
}
"""By name, the stage that each has to fail, and what is told of it."""
WORK_S = 0.004
"""Of a post, one after another."""
MOST_WAITING = 20
LATE_S = 1.5


class Feeds:
    def __init__(self, people, edges, folder, fault=""):
        assert fault in ("", *FAULTS)
        self.people, self.fault = people, fault
        self.readers, self.authors = defaultdict(set), defaultdict(set)
        for author, reader in edges:
            self.readers[author].add(reader)
            self.authors[reader].add(author)
        self.posts, self.deleted, self.feeds = {}, set(), defaultdict(list)
        self.reads = Counter()
        self.lock, self.places = Lock(), BoundedSemaphore(MOST_WAITING)
        log = folder / "log"
        if log.exists() and fault != "forgets":
            for kind, *values in map(json.loads, log.read_text().splitlines()):
                if kind != "unfollow" or fault != "follows again":
                    getattr(self, f"_{kind}")(*values)
        self.log = log.open("a", buffering=1)
        self.cache = folder / "cache"
        self.cache.touch()

    def change(self, kind, *values):
        """Log a change, and carry it out."""
        self.log.write(json.dumps([kind, *values]) + "\n")
        getattr(self, f"_{kind}")(*values)

    def publish(self, author):
        with self.lock:
            time.sleep(WORK_S)
            if self.fault == "used again":
                for post_id in self.deleted:
                    self.posts.pop(post_id, None)
            post_id = next(reversed(self.posts), 0) + 1
            self.change("post", post_id, author)
            answered = str(post_id) if self.fault == "text ids" else post_id
            return {"id": answered, "author": author, "created_at": ""}

    def _post(self, post_id, author):
        self.posts[post_id] = author
        owners = [author, *self.readers[author]]
        if self.fault == "slow celebrity":
            time.sleep(len(owners) / 1000)
        if self.fault == "stranger" and post_id % 40 == 0:
            owners.append((author - 2) % self.people + 1)
        for number, owner in enumerate(owners):
            if self.fault == "drop" and (post_id + number) % 40 == 0:
                continue
            if self.fault == "late" and post_id % 20 == 0:
                Timer(LATE_S, insort, (self.feeds[owner], post_id)).start()
                continue
            self.feeds[owner].append(post_id)
            if self.fault == "double" and post_id % 40 == 0:
                self.feeds[owner].append(post_id)

    def _delete(self, post_id):
        if self.fault != "deleted":
            self.deleted.add(post_id)

    def _unfollow(self, reader, author):
        self.readers[author].discard(reader)
        if self.fault != "left":
            self.authors[reader].discard(author)

    def page(self, owner, before, limit):
        if self.fault == "empty" and not self.cache.exists():
            return {"posts": [], "next": None}
        feed = self.feeds[owner]
        self.reads[owner] += 1
        if self.fault == "back" and not self.reads[owner] % 10:
            feed = feed[:-5]
        before = 2**63 if self.fault == "same page" else before
        ids = [n for n in reversed(feed) if n < before and self.is_shown(owner, n)]
        posts = [{"id": n, "author": self.author_of(n)} for n in ids[:limit]]
        is_last = not ids[limit:] or self.fault == "no more"
        return {"posts": posts, "next": None if is_last else "more"}

    def is_shown(self, owner, post_id):
        author = self.posts[post_id]
        reads = author == owner or author in self.authors[owner] or self.fault == "stranger"
        return reads and post_id not in self.deleted

    def author_of(self, post_id):
        return self.posts[post_id] + (self.fault == "forged" and post_id % 40 == 0)


class Asked(Answering, BaseHTTPRequestHandler):
    def do_POST(self):
        feeds = self.server.feeds
        self.rfile.read(int(self.headers["Content-Length"]))
        if feeds.fault == "refuses half" and time.time() % 0.1 < 0.05:
            self.answer(503, {})
        elif feeds.fault == "queues all":
            self.answer(201, feeds.publish(self.person()))
        elif feeds.fault == "chunked":
            self.answer_in_chunks(201, feeds.publish(self.person()))
        elif feeds.places.acquire(blocking=False):
            try:
                self.answer(201, feeds.publish(self.person()))
            finally:
                feeds.places.release()
        else:
            self.answer(503, {})

    def answer_in_chunks(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/readyz":
            return self.answer(200, {})
        query = {name: int(value) for name, (value,) in parse_qs(url.query).items()}
        with self.server.feeds.lock:
            page = self.server.feeds.page(
                self.person(), query.get("before", 2**63), query.get("limit", 20)
            )
        return self.answer(200, page)

    def do_DELETE(self):
        *_, kind, number, _ = self.path.split("/")
        with self.server.feeds.lock:
            if kind == "posts":
                self.server.feeds.change("delete", int(number))
            else:
                self.server.feeds.change("unfollow", self.person(), int(number))
        self.answer(204)


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


def main():
    tokens = {row["token"]: int(row["person_id"]) for row in rows("TOKENS")}
    edges = [(int(row["author_id"]), int(row["reader_id"])) for row in rows("EDGES")]
    server = Server(("127.0.0.1", int(os.environ["PORT"])), Asked)
    folder, fault = Path(os.environ["FOLDER"]), os.environ.get("FAULT", "")
    server.person_of, server.feeds = tokens, Feeds(len(tokens), edges, folder, fault)
    server.serve_forever()


if __name__ == "__main__":
    main()
