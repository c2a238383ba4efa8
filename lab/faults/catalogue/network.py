"""A drainer whose network is cut: nothing that it sends arrives, and nobody tells it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from ipaddress import ip_address, ip_network
from socket import AF_INET
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

import psutil

from lab.faults.catalogue.database_writes import root_only
from lab.faults.catalogue.drainer import DrainerFault
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for

CUT_S = 4.0
NETWORKS = ip_network("198.18.0.0/16")
"""Addresses for benchmarks (RFC 2544), of which each cable takes four."""
PROXY, CUT_OFF = "proxy", "workers of the other host"
SERVERS = ("DATABASE_URL", "REDIS_URL")


class DrainerCutOff(DrainerFault):
    name = "drainer-cut-off"
    text = (
        f"The network of the only drainer, a host of its own, is cut for {CUT_S:g} s while posts "
        "are pending; another one starts meanwhile."
    )
    no_control = "what the cut held up arrives when TCP sends it again, also if receipts come first"
    needs_mysql: ClassVar[bool] = True
    needs_redis: ClassVar[bool] = True
    program = "socat"

    def unavailable(self) -> str | None:
        return super().unavailable() or root_only() or _addresses_taken()

    def during(self, running: Running) -> AbstractContextManager[object]:
        return other_host(running)

    def inject(self, running: Running, readers: Readers) -> int:
        name = name_of()
        with readers.held_up():
            running.service.stop_workers()
            drain_there(running, name)
            in_flight = wait_for(lambda: running.query(PENDING))
            ip("link", "set", name, "down")
            try:
                time.sleep(CUT_S / 2)
                running.service.start_workers()
                time.sleep(CUT_S / 2)
            finally:
                ip("link", "set", name, "up")
            running.processes.stop(CUT_OFF)  # after its batch, which goes on when TCP sends again
            return in_flight


def name_of() -> str:
    """Return the name of the other host, and of the cable's end on this one: 15 letters at most."""
    return f"lab{os.getpid()}"


def ends() -> tuple[str, str]:
    """Return the addresses of the cable's ends, here and there, of this process only."""
    first = 4 * (os.getpid() % (NETWORKS.num_addresses // 4))
    return str(NETWORKS[first + 1]), str(NETWORKS[first + 2])


def _addresses_taken() -> str | None:
    """Return the reason if this machine has such addresses already, of whatever network."""
    families = psutil.net_if_addrs().values()
    addresses = [it.address for family in families for it in family if it.family == AF_INET]
    taken = any(ip_address(it) in NETWORKS for it in addresses)
    return f"this machine has addresses in {NETWORKS}" if taken else None


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def other_host(running: Running) -> Iterator[None]:
    """Make a network namespace from which the servers are reached through a cable (veth)."""
    name, (here, there) = name_of(), ends()
    with ExitStack() as undoing:
        ip("netns", "add", name)
        undoing.callback(ip, "netns", "delete", name)  # its end of the cable goes with it
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("address", "add", f"{here}/30", "dev", name)
        ip("link", "set", name, "up")
        ip("-n", name, "address", "add", f"{there}/30", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        undoing.callback(running.processes.stop, PROXY)
        undoing.callback(running.processes.stop, CUT_OFF)
        for port in ports(running):
            listen = f"TCP-LISTEN:{port},bind={here},fork,reuseaddr"
            running.processes.start(PROXY, ["socat", listen, f"TCP:127.0.0.1:{port}"], {})
        yield


def ports(running: Running) -> list[int]:
    (env,) = running.service.environments
    return [port for name in SERVERS if (port := urlsplit(env[name]).port)]


def drain_there(running: Running, name: str) -> None:
    """Start a drainer on the other host, and wait until it is at work."""
    (env,) = running.service.environments
    seen_there = {key: _as_seen_there(env[key]) for key in SERVERS}
    command = ("ip", "netns", "exec", name, sys.executable, "manage.py", "drain")
    before = running.query("SELECT max(id) FROM feed_post")
    running.processes.start(CUT_OFF, command, env | seen_there)
    wait_for(lambda: running.query(f"{PENDING} AND id <= {before}") == 0)


def _as_seen_there(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.replace("127.0.0.1", ends()[0])))
