"""Posts with idempotency keys are repeated while nobody knows whether they are stored."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from tests.locustfiles.load import Run

USERS = 5


@pytest.fixture
def refusing_once(service):
    """A service that answers the first request with each key with 503, and keeps the keys."""
    keys = Counter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            key = self.headers["Idempotency-Key"]
            keys[key] += 1
            status = 503 if key is None or keys[key] == 1 else 201
            post = {"id": 1, "author": 1, "created_at": "2026-01-01T00:00:00Z"}
            body = json.dumps(post).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        yield SimpleNamespace(url=url, tokens=service.tokens, keys=keys)
        server.shutdown()


def run(service, folder, *options):
    return Run(service, folder, "--no-audit", f"--users={USERS}", "--visible-share=0", *options)


def test_a_refused_post_is_repeated_with_its_key(refusing_once, tmp_path):
    done = run(refusing_once, tmp_path, "--idempotency-keys")

    accepted = done.rows("accepted.csv")
    assert len(accepted) >= USERS
    assert set(refusing_once.keys.values()) <= {1, 2}
    assert len(accepted) == sum(times == 2 for times in refusing_once.keys.values())


def test_without_the_option_posts_have_no_keys_and_are_not_repeated(refusing_once, tmp_path):
    done = run(refusing_once, tmp_path)

    assert set(refusing_once.keys) == {None}
    assert done.rows("accepted.csv") == []
