"""System check of METRICS_DIR."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_folder_is_writable(**kwargs: Any) -> list[CheckMessage]:
    """Refuse a folder that can't be written: every request would get a 500."""
    problem = _problem(Path(settings.METRICS_DIR))
    if not problem:
        return []
    return [
        Error(
            f"PROMETHEUS_MULTIPROC_DIR={settings.METRICS_DIR} can't be written: {problem}.",
            hint="Give the folder to the user of the service, or leave the variable out.",
            id="metrics.E001",
        )
    ]


def _problem(folder: Path) -> str | None:
    try:
        TemporaryFile(dir=folder).close()
    except OSError as error:
        return error.strerror
    return None
