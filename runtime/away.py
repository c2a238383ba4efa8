"""Servers that did not answer in time: for a second a process refuses at once what needs them."""

from time import monotonic

AWAY_S = 1.0


class Away:
    """What a process knows of a server."""

    def __init__(self) -> None:
        self._until = float("-inf")

    @property
    def is_known(self) -> bool:
        """Someone has waited for the server in vain within the last second."""
        return monotonic() < self._until

    def note(self) -> None:
        """Remember that the server did not answer in time."""
        self._until = monotonic() + AWAY_S


_servers: dict[str, Away] = {}


def of(server: str) -> Away:
    """Return what this process knows of a server, by its address."""
    return _servers.setdefault(server, Away())
