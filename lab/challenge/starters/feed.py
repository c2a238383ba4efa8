"""A feed in Python's standard library, to begin with.

It passes stages 1, 3, 5 and 6. It knows no unfollow and no deletion (stage 2), and keeps all in
memory: after a kill it has nothing (stage 4).
"""

import csv
import json
import os
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

posts, timelines, readers, lock = {}, defaultdict(list), defaultdict(set), Lock()


def rows(name):
    with Path(os.environ[name]).open(newline="") as file:
        return list(csv.DictReader(file))


person_of = {row["token"]: int(row["person_id"]) for row in rows("TOKENS")}
for edge in rows("EDGES"):
    readers[int(edge["author_id"])].add(int(edge["reader_id"]))


def publish(author):
    with lock:
        post = {"id": len(posts) + 1, "author": author, "created_at": ""}
        posts[post["id"]] = post
        for owner in {author, *readers[author]}:
            timelines[owner].append(post["id"])
    return post


def page(owner, before, limit):
    ids = [n for n in reversed(timelines[owner]) if n < before]
    return {"posts": [posts[n] for n in ids[:limit]], "next": "more" if ids[limit:] else None}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body of an answer go together

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, publish(self.person()))

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/readyz":
            return self.answer(200, {})
        query = parse_qs(url.query)
        before, limit = (
            int(query.get(name, [most])[0]) for name, most in (("before", 2**63), ("limit", 20))
        )
        return self.answer(200, page(self.person(), before, limit))

    def do_DELETE(self):
        self.answer(501, {"detail": "stage 2 asks for it"})

    def person(self):
        return person_of[self.headers["Authorization"].removeprefix("Bearer ")]

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
