from collections.abc import Sequence
from pathlib import Path
from socket import create_connection

from launch.processes import Processes, free_port
from launch.servers.base import Server
from launch.servers.launchers import LAUNCHERS

SETTINGS = Path("compose/haproxy.cfg")
MAX_APP_SERVERS = 5
"""So many addresses have a place in the settings."""


class HAProxy(Server):
    """HAProxy with the settings of compose, before servers on this machine."""

    role = "proxy"
    binaries = ("haproxy",)
    package = "haproxy"
    image = "haproxy:2.6"
    image_port = 8000

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        *,
        port: int,
        apps: Sequence[str],
        probes: str,
        slow: str,
        app_requests: int = 16,
        settings: Path = SETTINGS,
    ) -> None:
        """Addresses are ``host:port``; ``app_requests``: most in flight per app server."""
        super().__init__(processes, folder, LAUNCHERS["local"])
        assert 1 <= len(apps) <= MAX_APP_SERVERS
        self.port = port
        self.limited_port = free_port()
        """The port with limits per client address."""
        self.apps = apps
        self.probes = probes
        self.slow = slow
        self.app_requests = app_requests
        self.settings = settings

    @property
    def environment(self) -> dict[str, str]:
        return {}

    def command(self, binary: str) -> list[str]:
        return [binary, "-db", "-f", str(self.settings)]

    def local_environment(self) -> dict[str, str]:
        names = ["APP", *(f"APP_{number}" for number in range(2, MAX_APP_SERVERS + 1))]
        return {
            "BIND_LIMITED": f"{self.address}:{self.limited_port}",
            "BIND_UNLIMITED": f"{self.address}:{self.port}",
            "APP_SERVERS": "1",
            "APP_REQUESTS": str(self.app_requests),
            "PROBES": self.probes,
            "SLOW": self.slow,
            **dict(zip(names, self.apps, strict=False)),
        }

    def is_ready(self) -> bool:
        try:
            create_connection((self.address, self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def version(self) -> str:
        return "HAProxy"
