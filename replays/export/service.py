"""The service as export runs it, with a folder of its own for the files."""

from dataclasses import dataclass
from typing import ClassVar

from replays.replicated import ReplicatedService, ReplicatedVariant


@dataclass(frozen=True)
class ExportVariant(ReplicatedVariant):
    service: ClassVar[str] = "replays.export.service.ExportService"


class ExportService(ReplicatedService):
    @property
    def environments(self) -> list[dict[str, str]]:
        folder = {"EXPORT_DIR": f"{self.folder}/exports"}
        return [environment | folder for environment in super().environments]
