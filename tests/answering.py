"""What servers of tests have in common; it needs no package, since some run in other Pythons."""

import csv
import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Answering:
    """Part of a handler that answers JSON, and keeps connections.

    ``server.person_of`` may have people by their tokens.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet

    def person(self):
        return self.server.person_of[self.headers["Authorization"].removeprefix("Bearer ")]

    def answer(self, status, content=None):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextmanager
def running(server):
    """Serve in a thread while the block runs."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def standing_in(answer):
    """Serve what ``answer(method, path, headers)`` returns as status and content; yield the URL.

    Status 0 closes the connection.
    """

    class StandIn(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, content = answer(self.command, self.path, self.headers)
            if status:
                self.answer(status, content)
            else:
                self.close_connection = True

        def do_POST(self):
            self.do_GET()

    with running(ThreadingHTTPServer(("127.0.0.1", 0), StandIn)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def rows(name):
    """Return the rows of the CSV file that an environment variable names."""
    with Path(os.environ[name]).open(newline="") as file:
        return list(csv.DictReader(file))
