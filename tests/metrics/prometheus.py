"""A real Prometheus, from Debian's package, that scrapes a service every 200 ms."""

import json
import shutil
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from lab.faults.running import serving
from launch.processes import Processes, free_port

CONFIG = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: app
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def tool(name):
    binary = shutil.which(name)
    assert binary, f"{name} is not installed: make servers"
    return binary


class Prometheus:
    """Scrapes a port of this machine."""

    def __init__(self, processes: Processes, folder: Path, port: int):
        self.url = f"http://127.0.0.1:{free_port()}"
        folder.mkdir()
        (folder / "prometheus.yml").write_text(CONFIG.format(port=port))
        self._processes = processes
        self._command = [
            tool("prometheus"),
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={self.url.removeprefix('http://')}",
        ]

    def start(self):
        self._processes.start("prometheus", self._command, {})
        self._processes.wait_until("prometheus", self._has_scraped)

    def ask(self, query: str):
        """Return the values of an instant query, by their labels."""
        with urllib.request.urlopen(f"{self.url}/api/v1/query?query={quote(query)}") as answer:
            found = json.load(answer)["data"]["result"]
        return {tuple(sorted(one["metric"].items())): float(one["value"][1]) for one in found}

    def number(self, query: str) -> float:
        """Return the one value of a query; 0 if there is none."""
        return next(iter(self.ask(query).values()), 0.0)

    def wait_for(self, query: str, value: float, *, within_s: float = 60):
        """Wait until a query has this value; fail with its last value."""
        give_up_at = time.monotonic() + within_s
        while self.number(query) != value and time.monotonic() < give_up_at:
            time.sleep(0.1)
        assert self.number(query) == value

    def _has_scraped(self) -> bool:
        try:
            return self.number('up{job="app"}') == 1
        except OSError:
            return False


@contextmanager
def metered(folder):
    """A service whose processes count in a folder that they share."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder / "metrics"))
        with serving("sqlite-outbox-setbased", folder) as running:
            yield running


def watch(running):
    folder = running.folder / "prometheus"
    prometheus = Prometheus(running.processes, folder, running.service.port)
    prometheus.start()
    return prometheus
