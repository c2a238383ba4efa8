# mypy: ignore-errors
"""epochs: any store is trusted, whatever became of it or of the database."""

from feed import epochs
from lab.faults.unguarded.switch import lacks


def _trusting(function):
    return lambda *arguments: None if lacks("epochs") else function(*arguments)


epochs.reason_unusable = _trusting(epochs.reason_unusable)
epochs.check = _trusting(epochs.check)
