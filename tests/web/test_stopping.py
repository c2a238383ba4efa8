"""What a worker that is told to stop still answers."""

import os
import signal
import socket
import time
from contextlib import ExitStack, closing
from selectors import EVENT_READ, DefaultSelector

import psutil
import pytest
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from launch.processes import Processes, free_port
from launch.service import gunicorn
from tests.web.conftest import answers
from web.gunicorn_worker import LoopWorker
from web.kept_alive import KeptAlive

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("stop_signal", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_has_connected_is_answered(stop_signal, tmp_path):
    port, count = free_port(), 300  # more than a worker accepts at a time
    command = [part for part in gunicorn(port) if part != "--reuse-port"]
    database = f"sqlite:///{tmp_path}/feed.sqlite3"
    env = {"DATABASE_URL": database, "WEB_WORKERS": "1", "WEB_SLOW_WORKERS": "0"}
    with Processes(tmp_path / "logs") as processes, ExitStack() as stack:
        processes.start("web", command, env)
        processes.wait_until("web", lambda: answers(port))
        (pid,) = processes.pids("web")
        (worker,) = psutil.Process(pid).children()
        worker.suspend()
        clients = [
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", port), timeout=20)))
            for _ in range(count)
        ]
        for client in clients:
            client.sendall(GET)
        os.kill(pid, stop_signal)
        time.sleep(0.5)  # so that the worker has been told, too
        worker.resume()

        assert [client.recv(15) for client in clients] == [b"HTTP/1.1 200 OK"] * count


class Stopping(LoopWorker):
    """A worker that has been told to stop, with idle connections that have expired."""

    def __init__(self, sockets):
        self.alive, self.nr_conns = False, len(sockets)
        self.halves, self.leaving, self.poller = {}, {}, DefaultSelector()
        self.keepalived_conns = KeptAlive()
        for conn in (TConn(Config(), it, None, None) for it in sockets):
            self.keepalived_conns.append(conn)
            conn.timeout = time.monotonic()
            self.poller.register(conn.sock, EVENT_READ)


def test_a_request_that_has_just_arrived_keeps_its_connection_open():
    with ExitStack() as stack:
        pairs = [map(stack.enter_context, map(closing, socket.socketpair())) for _ in range(3)]
        (busy, busy_client), (idle, idle_client), (left, left_client) = pairs
        worker = Stopping([busy, idle, left])
        busy_client.sendall(GET)
        left_client.close()

        worker.murder_keepalived()

        assert [conn.sock for conn in worker.keepalived_conns] == [busy]
        assert worker.nr_conns == 1
        assert idle_client.recv(1) == b""
