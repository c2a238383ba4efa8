from typing import Any

from metrics.definitions import timeline_loads


def count_load(store: str, **kwargs: Any) -> None:
    """Signal receiver of ``timeline_loaded``."""
    timeline_loads.labels(store).inc()
