"""A fake app server, which records its requests."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class AppServer(ThreadingHTTPServer):
    """Serves on a port of 127.0.0.1 (0: a free one) until the end of the block, or ``die``."""

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.requests = []
        self.headers = []
        self.connections = []
        self.hangs_up = False
        """Whether it closes the connection instead of answering a request."""
        self.may_answer = threading.Event()
        self.may_answer.set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self.die()

    def die(self):
        """Stop listening, and break the connections that are open. Idempotent."""
        self.shutdown()
        self.server_close()
        self._thread.join()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed by the other side


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections

    def setup(self):
        super().setup()
        self.server.connections.append(self.connection)

    def do_GET(self):
        self._answer()

    def do_POST(self):
        self._answer()

    def _answer(self):
        self.server.may_answer.wait(10)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.headers["Host"]))
        self.server.headers.append(self.headers)
        if self.server.hangs_up:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass
