"""Whether a request that fails may have stored something all the same.

A database that doesn't confirm a COMMIT in time may have done it, or do it later. Where nothing
was sent that stores, or the database refused all of it, nothing is stored.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from django.core.signals import request_started

READS = ("SELECT", "SET ", "SHOW", "PRAGMA")
"""Beginnings of statements that store nothing."""


class _Request(local):
    may_have_stored = False


_request = _Request()


def may_have_stored() -> bool:
    """Return whether this thread's request sent something that the database may have stored."""
    return _request.may_have_stored


def begin(**kwargs: Any) -> None:
    """Signal receiver of ``request_started``."""
    _request.may_have_stored = False


request_started.connect(begin)


@contextmanager
def storing(is_refusal: Callable[[Exception], bool]) -> Iterator[None]:
    """Remember that the block stores something, unless it raises a refusal."""
    before, _request.may_have_stored = _request.may_have_stored, True
    try:
        yield
    except Exception as error:
        if is_refusal(error):
            _request.may_have_stored = before
        raise


class StoringCursor:
    """Mixin of a cursor: outside of a transaction each statement that writes is one itself."""

    stores: Callable[[], bool]
    """Returns whether there is no transaction."""
    is_refusal: Callable[[Exception], bool]

    def execute(self, query: str, params: Any = None) -> Any:
        return self._store(query, super().execute, params)  # type: ignore[misc]

    def executemany(self, query: str, param_list: Any) -> Any:
        return self._store(query, super().executemany, param_list)  # type: ignore[misc]

    def _store(self, query: str, execute: Callable[[str, Any], Any], params: Any) -> Any:
        if query.startswith(READS) or not self.stores():
            return execute(query, params)
        with storing(self.is_refusal):
            return execute(query, params)


class StoringWrapper:
    """Mixin of a DatabaseWrapper."""

    @staticmethod
    def is_refusal(error: Exception) -> bool:
        """Return whether an error is the database's answer that it stored nothing."""
        raise NotImplementedError

    def _commit(self) -> None:
        with storing(self.is_refusal):
            super()._commit()  # type: ignore[misc]
