# mypy: ignore-errors
"""patience: a request waits for its turn for as long as that takes."""

from lab.faults.unguarded.switch import lacks
from web import gunicorn_worker

_is_refused = gunicorn_worker.is_refused


def _never(lane, **state):
    return not lacks("patience") and _is_refused(lane, **state)


gunicorn_worker.is_refused = _never
