"""A service beside which a process parses every line of its log."""

import sys
from dataclasses import dataclass

from launch.service import Service
from launch.variants import Variant


@dataclass(frozen=True)
class CollectedVariant(Variant):
    service = "replays.signup.service.CollectedService"


class CollectedService(Service):
    def start(self) -> None:
        super().start()
        log = str(self.processes.logs / "web.log")
        command = [sys.executable, "-m", "replays.signup.collector", log]
        self.processes.start("collector", command, {})
