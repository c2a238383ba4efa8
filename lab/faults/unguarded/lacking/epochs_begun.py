# mypy: ignore-errors
"""new epochs: none begins by command."""

from feed.management.commands import begin_epoch
from lab.faults.unguarded.switch import lacks

_handle = begin_epoch.Command.handle


def _nothing(self, *arguments, **options):
    return None if lacks("new epochs") else _handle(self, *arguments, **options)


begin_epoch.Command.handle = _nothing
