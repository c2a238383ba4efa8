"""Hosts on one machine: for each part of a run a network namespace, and a core at most."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Network, ip_address
from itertools import count
from pathlib import Path
from signal import SIGTERM, Signals
from socket import AF_INET
from string import ascii_lowercase
from typing import NamedTuple, Self

import psutil

from launch import quota
from launch.processes import Processes, RunFailed
from launch.variants import Variant

NETWORKS = IPv4Network("198.18.0.0/15")
"""Addresses for benchmarks (RFC 2544), of which each run takes 256."""
HOST_CPUS = 1.0
_numbers = count()


class Host(NamedTuple):
    name: str
    """Of the namespace, and of the end of its cable (veth) at the bridge: 15 letters at most."""
    address: str

    @property
    def command(self) -> tuple[str, str]:
        """Return what runs the command that follows on this host."""
        return "nsenter", f"--net=/run/netns/{self.name}"


class OnHosts(Processes):
    """Processes of which each has a host; those of one role share it, if none is named.

    Hosts reach each other, and the laboratory, through a bridge. Entering the block raises
    RunFailed if this machine can't have hosts.
    """

    def __init__(self, logs: Path) -> None:
        super().__init__(logs)
        number = next(_numbers)
        self.bridge = f"lab{os.getpid()}{ascii_lowercase[number % 26]}"
        self._addresses = list(NETWORKS.subnets(new_prefix=24))[(os.getpid() + 7 * number) % 512]
        self._hosts: dict[str, Host] = {}

    def __enter__(self) -> Self:
        if reason := unavailable():
            raise RunFailed(f"hosts need network namespaces: {reason}")
        super().__enter__()
        ip("link", "add", self.bridge, "type", "bridge")
        self.at_exit(lambda: ip("link", "delete", self.bridge))
        ip("address", "add", f"{self._addresses[1]}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        return self

    def start(
        self,
        role: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        host: str | None = None,
        stop_signal: Signals = SIGTERM,
    ) -> subprocess.Popen[bytes]:
        argv = [*self._host(host or role).command, *argv]
        process = super().start(role, argv, env, stop_signal=stop_signal)
        if not quota.limit(self, process.pid, HOST_CPUS):
            raise RunFailed("hosts need control groups that can be written, for a core each")
        return process

    def address(self, host: str) -> str:
        return self._host(host).address

    @contextmanager
    def cut_off(self, host: str) -> Iterator[None]:
        """Cut a host's cable while the block runs."""
        name = self._host(host).name
        ip("link", "set", name, "down")
        try:
            yield
        finally:
            ip("link", "set", name, "up")

    def _host(self, name: str) -> Host:
        if name not in self._hosts:
            number = len(self._hosts) + 1
            host = Host(f"{self.bridge}-{number}", str(self._addresses[number + 1]))
            self._make(host)
            self._hosts[name] = host
        return self._hosts[name]

    def _make(self, host: Host) -> None:
        ip("netns", "add", host.name)
        self.at_exit(lambda: ip("netns", "delete", host.name))
        peer = ("peer", "name", "eth0", "netns", host.name)
        ip("link", "add", host.name, "master", self.bridge, "type", "veth", *peer)
        self.at_exit(lambda: ip("link", "delete", host.name))  # the namespace ends some time later
        ip("link", "set", host.name, "up")
        ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", host.name, "link", "set", device, "up")


def processes_for(variant: Variant, logs: Path) -> Processes:
    """Return where the processes of a variant will run; nothing is started yet."""
    return OnHosts(logs) if variant.on_hosts else Processes(logs, is_pinned=variant.is_pinned)


def unavailable() -> str | None:
    """Return why this machine can't have hosts, as the end of a sentence; None if it can."""
    if os.geteuid() != 0:
        return "only root can make them"
    families = psutil.net_if_addrs().items()
    for name, addresses in families:
        if re.fullmatch(r"lab\d+[a-z]", name):
            continue  # of another run: its 256 addresses are others
        for address in addresses:
            if address.family == AF_INET and ip_address(address.address) in NETWORKS:
                return f"{name} of this machine has the address {address.address}, in {NETWORKS}"
    return None


def ip(*arguments: str) -> None:
    """Call ip (iproute2). Raises RunFailed with what it says."""
    try:
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise RunFailed("ip is not installed: apt-get install iproute2") from error
    except subprocess.CalledProcessError as error:
        raise RunFailed(f"ip {' '.join(arguments)}: {error.stderr.strip()}") from error
