"""nginx, with the settings of replay 001, before two app servers that count."""

from contextlib import ExitStack, closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from launch.processes import Processes, free_port
from replays.browse.service import Nginx
from tests.answering import Answering, running


class Counting(Answering, BaseHTTPRequestHandler):
    def setup(self):
        super().setup()
        self.server.connections += 1

    def do_GET(self):
        self.server.hosts.append(self.headers["Host"])
        self.answer(200)


def app_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Counting)
    server.connections, server.hosts = 0, []
    return running(server)


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
