"""The service as browse runs it: behind nginx, with a share of the cores for each app server."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from launch import quota
from launch.processes import Processes, free_port
from launch.servers.proxies import Proxy
from replays.replicated import ReplicatedService, ReplicatedVariant

NGINX_SETTINGS = Path("replays/browse/nginx.conf")
NO_QUOTA = (
    "This machine's control groups can't be written, so no app server was held to {cpus:g} cores: "
    "one alone has the whole machine, and more of them add nothing."
)
APP_CPUS = 0.4
"""Cores of each app server, so that five of them share two."""


@dataclass(frozen=True)
class BrowseVariant(ReplicatedVariant):
    service: ClassVar[str] = "replays.browse.service.BrowseService"

    is_balanced: bool = False
    """The app servers are behind nginx, each with a port of its own; else they share one."""
    proxy_keeps: bool = True
    """nginx keeps its connections to the app servers; by its own defaults it doesn't."""


class BrowseService(ReplicatedService):
    variant: BrowseVariant
    ports: Sequence[int] = ()
    """Of the app servers."""

    def app_ports(self) -> list[int]:
        ports = super().app_ports()
        self.ports = [free_port() for _ in ports] if self.variant.is_balanced else ports
        return list(self.ports)

    def start_app_server(self, port: int, env: dict[str, str]) -> int:
        pid = super().start_app_server(port, env)
        if not quota.limit(self.processes, pid, APP_CPUS) and not self.limitations:
            self.limitations.append(NO_QUOTA.format(cpus=APP_CPUS))
        return pid

    def start(self) -> None:
        super().start()
        if self.variant.is_balanced:
            self._nginx().start()

    def _nginx(self) -> "Nginx":
        folder, keeps = self.folder / "nginx", self.variant.proxy_keeps
        return Nginx(self.processes, folder, port=self.port, app_ports=self.ports, keeps=keeps)


class Nginx(Proxy):
    """nginx, which spreads the requests of a published test over app servers."""

    binaries = ("nginx",)
    package = "nginx"
    image = "nginx:1.28"

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        *,
        port: int,
        app_ports: Sequence[int],
        keeps: bool = True,
    ) -> None:
        """``keeps``: with the connections to app servers kept open from request to request."""
        super().__init__(processes, folder, port=port)
        self.app_ports = app_ports
        self.keeps = keeps

    def prepare(self, binary: str) -> None:
        (self.folder / "nginx.conf").write_text(self._settings())

    def command(self, binary: str) -> list[str]:
        where = ("-p", f"{self.folder}/", "-c", "nginx.conf", "-e", "stderr")
        # Else root's nginx serves as somebody who may not write into our folder.
        user = "user root;" if os.geteuid() == 0 else ""
        return [binary, *where, "-g", f"daemon off; pid nginx.pid; {user}"]

    def _settings(self) -> str:
        lines = NGINX_SETTINGS.read_text().splitlines()
        text = "\n".join(line for line in lines if self.keeps or not line.endswith("# kept"))
        text = text.replace("ADDRESS", f"{self.address}:{self.port}")
        return text.replace("SERVERS", " ".join(map(self._server, self.app_ports)))

    def _server(self, port: int) -> str:
        # A server that is only busy fails now and then.
        return f"server {self.address}:{port} max_fails=10 fail_timeout=2s;"
