# mypy: ignore-errors
"""refusals: every request waits for a server that did not answer the one before."""

from lab.faults.unguarded.switch import lacks
from runtime.away import Away

_is_known = Away.is_known.fget

Away.is_known = property(lambda self: not lacks("refusals") and _is_known(self))
