"""A port in use is reported before anything is started."""

import os
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from launch.ports import PortTaken, claimed
from launch.processes import RunFailed, free_port
from tests.commands import python

GIVEN = """
from launch.processes import free_port
print(*(free_port() for _ in range(600)), flush=True)
input()
"""
UP = ["-m", "lab", "up", "sqlite-inline-setbased", "--people=3", "--friends=2"]


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as server:
        yield server


def port_of(server):
    return server.getsockname()[1]


def up(port, folder):
    return [*UP, f"--port={port}", f"--tokens={folder}/tokens.csv"]


def test_the_program_that_listens_on_a_port_is_named(listener):
    named = rf"{port_of(listener)} is in use by .*\(pid {os.getpid()}\)"
    with pytest.raises(PortTaken, match=named), claimed(port_of(listener)):
        pass


def test_a_port_without_a_visible_listener_belongs_to_another_program():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        named = "is in use by another program; choose another"
        with pytest.raises(PortTaken, match=named), claimed(port_of(bound)):
            pass


def test_one_laboratory_at_a_time_claims_a_port():
    port = free_port()
    with claimed(port):
        with pytest.raises(PortTaken, match="in use by another laboratory"), claimed(port):
            pass
        with claimed(free_port()):
            pass
    with claimed(port):
        pass


def test_two_processes_are_given_different_ports():
    command = [sys.executable, "-c", GIVEN]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as other:
        theirs = set(map(int, other.stdout.readline().split()))
        ours = {free_port() for _ in range(600)}
        other.communicate("\n")

    assert not theirs & ours
    assert len(theirs) == len(ours) == 600


def test_connections_that_have_ended_do_not_keep_a_port_in_use(listener):
    port = port_of(listener)
    with socket.create_connection(("127.0.0.1", port)) as client:
        listener.accept()[0].close()  # the side that closes first keeps the address for a minute
        assert client.recv(1) == b""
    listener.close()
    with claimed(port):
        pass


def test_a_port_that_does_not_exist_is_refused():
    with pytest.raises(RunFailed, match="can't listen on"), claimed(99999):
        pass


def test_a_second_laboratory_leaves_the_first_one_serving(tmp_path):
    port, said = free_port(), [""]
    command = up(port, tmp_path)
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as first:
        try:
            while "Ctrl-C" not in said[-1]:
                said.append(first.stdout.readline())
                assert first.poll() is None
            done = python(*command)
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=20) as answer:
                assert answer.status == 200
        finally:
            first.send_signal(signal.SIGINT)

    (load,) = (line for line in said if " -f locustfiles/fanout.py " in line)
    assert os.access(load.split()[0], os.X_OK)  # can be typed as it is
    assert done.returncode == 1
    assert "-m gunicorn " in done.stderr
    assert done.stderr.endswith("; choose another with --port\n")
