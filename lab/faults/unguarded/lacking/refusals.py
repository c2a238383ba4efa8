# mypy: ignore-errors
"""refusals: every request waits for a server that did not answer the one before."""

from lab.faults.unguarded.switch import lacks
from runtime.away import Server

_refuses = Server.refuses
Server.refuses = lambda self: not lacks("refusals") and _refuses(self)
