"""nginx, with the settings of replay 001, before two app servers that count."""

import threading
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from launch.processes import Processes, free_port
from replays.browse.service import Nginx


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections

    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_GET(self):
        self.server.hosts.append(self.headers["Host"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextmanager
def app_server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.connections, server.hosts = 0, []
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("keeps", "connections"), [(True, 1), (False, 10)])
def test_requests_are_spread_and_connections_kept_or_not(keeps, connections, tmp_path):
    with ExitStack() as stack:
        servers = [stack.enter_context(app_server()) for _ in range(2)]
        processes = stack.enter_context(Processes(tmp_path / "logs"))
        ports = [server.server_port for server in servers]
        nginx = Nginx(processes, tmp_path, port=free_port(), app_ports=ports, keeps=keeps)
        nginx.start()
        client = stack.enter_context(closing(HTTPConnection("127.0.0.1", nginx.port, timeout=10)))
        for _ in range(20):
            client.request("GET", "/", headers={"Host": "feed.example"})
            assert client.getresponse().read() == b""

    assert [server.hosts for server in servers] == [["feed.example"] * 10] * 2
    assert [server.connections for server in servers] == [connections] * 2
