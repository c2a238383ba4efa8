# mypy: ignore-errors
"""answers: an error of a server behind the service is an error of the service."""

import rest_framework.views  # noqa: F401  first, since it imports web.api itself

from lab.faults.unguarded.switch import lacks
from web import api


class _Unavailable(type):
    def __instancecheck__(cls, error):
        return not lacks("answers") and isinstance(error, _errors)


_errors = api.UNAVAILABLE
api.UNAVAILABLE = _Unavailable("Unavailable", (), {})
