"""Circuit breakers: a server that did not answer in time is asked again one call at a time."""

from time import monotonic

AWAY_S = 1.0
"""From a call that waited in vain to the next one that may."""
TRIAL_S = 3.0
"""Longer than any call waits for an answer."""


class Server:
    """What a process knows of a server."""

    def __init__(self) -> None:
        self._answers = True
        self._next_trial_at = 0.0

    def refuses(self) -> bool:
        """Return whether a call would wait in vain; if not, the caller calls and notes the outcome.

        After a call that had no answer, all others are refused for AWAY_S. Then one goes out, and
        the others are refused until it has had an answer.
        """
        if self._answers:
            return False
        now = monotonic()
        if now < self._next_trial_at:
            return True
        self._next_trial_at = now + TRIAL_S
        return False

    def note(self, *, answers: bool) -> None:
        """Remember whether the server answered in time, be it with an error."""
        self._answers = answers
        if not answers:
            self._next_trial_at = monotonic() + AWAY_S


_servers: dict[str, Server] = {}


def server(address: str) -> Server:
    """Return what this process knows of the server with this address."""
    return _servers.setdefault(address, Server())
