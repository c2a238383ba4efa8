from typing import Any

from metrics import definitions


def count_refused(lane: str, count: int, **kwargs: Any) -> None:
    """Signal receiver of ``refused``."""
    definitions.refused.labels(lane).inc(count)
