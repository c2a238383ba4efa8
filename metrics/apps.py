from contextlib import suppress
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings
from django.db.backends.signals import connection_created

from feed.signals import receipts_set, timeline_loaded


class MetricsConfig(AppConfig):
    """Installed only where METRICS_DIR is set."""

    name = "metrics"

    def ready(self) -> None:
        with suppress(OSError):  # the system check reports it
            Path(settings.METRICS_DIR).mkdir(parents=True, exist_ok=True)
        import_module("metrics.checks")  # registers it
        # Models can't be imported before ready().
        deliveries = import_module("metrics.deliveries")
        receipts_set.connect(deliveries.note_receipts)
        timeline_loaded.connect(deliveries.count_load)
        connection_created.connect(import_module("metrics.connections").remember)
