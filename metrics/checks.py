"""System check of METRICS_DIR."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def check_folder_is_writable(**kwargs: Any) -> Iterator[CheckMessage]:
    """Refuse a folder that can't be written: every request would get a 500."""
    try:
        TemporaryFile(dir=settings.METRICS_DIR).close()
    except OSError as error:
        problem = f"PROMETHEUS_MULTIPROC_DIR={settings.METRICS_DIR} can't be written"
        hint = "Give the folder to the user of the service, or leave the variable out."
        yield Error(f"{problem}: {error.strerror}.", hint=hint, id="metrics.E001")
