# mypy: ignore-errors
"""markers: a deleted post stays in the cache."""

from feed import services
from lab.faults.unguarded.switch import lacks

_forget = services.forget


def _remember(*post_ids):
    if not lacks("markers"):
        _forget(*post_ids)


services.forget = _remember
