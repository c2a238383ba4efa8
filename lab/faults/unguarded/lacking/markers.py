# mypy: ignore-errors
"""markers: a deleted post stays in the cache."""

from contextlib import nullcontext

from feed import services
from lab.faults.unguarded.switch import lacks

_forgetting = services.forgetting


def _remembering(*post_ids):
    return nullcontext() if lacks("markers") else _forgetting(*post_ids)


services.forgetting = _remembering
