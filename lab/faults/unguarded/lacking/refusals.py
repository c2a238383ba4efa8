# mypy: ignore-errors
"""refusals: every request waits for a server that did not answer the one before."""

from lab.faults.unguarded.switch import lacks
from runtime.away import Server
from web import gunicorn_worker

_refuses = Server.refuses
_is_refused = gunicorn_worker.is_refused


def _never(lane, **state):
    return not lacks("refusals") and _is_refused(lane, **state)


Server.refuses = lambda self: not lacks("refusals") and _refuses(self)
gunicorn_worker.is_refused = _never  # or the limit for waiting requests would do
