"""The proxies before app servers on this machine."""

from collections.abc import Sequence
from pathlib import Path
from socket import create_connection

from launch.processes import Processes, free_port
from launch.servers.base import Server

HAPROXY_SETTINGS = Path("compose/haproxy.cfg")


class Proxy(Server):
    """Listens on a port that is given to it, and is ready when it accepts connections."""

    role = "proxy"
    image_port = 8000

    def __init__(self, processes: Processes, folder: Path, *, port: int) -> None:
        super().__init__(processes, folder, "local")
        self.port = port

    @property
    def environment(self) -> dict[str, str]:
        return {}

    def is_ready(self) -> bool:
        try:
            create_connection((self.address, self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def version(self) -> str:
        return type(self).__name__


class HAProxy(Proxy):
    """HAProxy, with servers of their own for probes and slow requests."""

    binaries = ("haproxy",)
    package = "haproxy"
    image = "haproxy:3.0"

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        *,
        port: int,
        apps: Sequence[str],
        probes: str,
        slow: str,
        stream: str | None = None,
        app_requests: int = 16,
        settings: Path = HAPROXY_SETTINGS,
    ) -> None:
        """Addresses are ``host:port``, of one or two app servers; ``app_requests``: most in flight
        with each of them."""
        super().__init__(processes, folder, port=port)
        assert len(apps) <= 2, "the settings have a place for two"
        self.limited_port = free_port()
        """The port with limits per client address."""
        self.metrics_port = free_port()
        self.apps = apps
        self.probes = probes
        self.slow = slow
        self.stream = stream
        self.app_requests = app_requests
        self.settings = settings

    def command(self, binary: str) -> list[str]:
        return [binary, "-db", "-f", str(self.settings)]

    def local_environment(self) -> dict[str, str]:
        return {
            "BIND_LIMITED": f"{self.address}:{self.limited_port}",
            "BIND_UNLIMITED": f"{self.address}:{self.port}",
            "BIND_METRICS": f"{self.address}:{self.metrics_port}",
            "APP_REQUESTS": str(self.app_requests),
            "PROBES": self.probes,
            "SLOW": self.slow,
            **({"STREAM": self.stream} if self.stream else {}),
            **dict(zip(("APP", "APP_2"), self.apps, strict=False)),
        }
