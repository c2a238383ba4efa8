# mypy: ignore-errors
"""answers: an error of a server behind the service is an error of the service."""

from lab.faults.unguarded.switch import lacks
from web import api


class _Unavailable(type):
    def __instancecheck__(cls, error):
        return not lacks("answers") and isinstance(error, _errors)


_errors = api.UNAVAILABLE
api.UNAVAILABLE = _Unavailable("Unavailable", (), {})
