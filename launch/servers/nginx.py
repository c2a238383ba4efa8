import os
from collections.abc import Sequence
from pathlib import Path
from socket import create_connection

from launch.processes import Processes
from launch.servers.base import Server
from launch.servers.launchers import LAUNCHERS

SETTINGS = Path("compose/nginx.conf")
OPTIONS = "max_fails=10 fail_timeout=2s"
SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""What nginx would keep in folders that only root may write."""

FORGETTING = (
    ("keepalive 256;", ""),
    ("proxy_http_version 1.1;", "proxy_http_version 1.0;"),
    ('proxy_set_header Connection "";', "proxy_set_header Connection close;"),
)
"""nginx's own defaults, where compose sets others."""


class Nginx(Server):
    """nginx with the settings of compose, before app servers on this machine."""

    role = "proxy"
    binaries = ("nginx",)
    package = "nginx"
    image = "nginx:1.28"
    image_port = 8000

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
        super().__init__(processes, folder, LAUNCHERS["local"])
        self.port = port
        self.app_ports = app_ports
        self.keeps = keeps

    @property
    def environment(self) -> dict[str, str]:
        return {}

    def prepare(self, binary: str) -> None:
        (self.folder / "nginx.conf").write_text(self._settings())

    def command(self, binary: str) -> list[str]:
        where = ("-p", f"{self.folder}/", "-c", "nginx.conf", "-e", "stderr")
        # Else root's nginx serves as somebody who may not write into our folder.
        user = "user root;" if os.geteuid() == 0 else ""
        return [binary, *where, "-g", f"daemon off; pid nginx.pid; {user}"]

    def is_ready(self) -> bool:
        try:
            create_connection(("127.0.0.1", self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def version(self) -> str:
        return "nginx"

    def _settings(self) -> str:
        text = SETTINGS.read_text()
        servers = " ".join(f"server 127.0.0.1:{port} {OPTIONS};" for port in self.app_ports)
        scratch = " ".join(f"{name}_temp_path {name};" for name in SCRATCH)
        for ours, here in (
            (f"server app:8000 resolve {OPTIONS};", servers),
            ("listen 8000;", ""),  # the port with limits: clients of a run have one address
            ("listen 8001;", f"listen 127.0.0.1:{self.port};"),
            ("http {", f"http {{ {scratch}"),
            *(() if self.keeps else FORGETTING),
        ):
            assert ours in text, f"{SETTINGS} no longer has {ours!r}"
            text = text.replace(ours, here)
        return text
