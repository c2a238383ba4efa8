"""Backends named in settings the way Django names CACHES: alias → BACKEND and OPTIONS."""

from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

Backend = TypeVar("Backend")


class BackendHandler(Generic[Backend]):
    """The backends of one axis, created on first use and kept.

    ``choice``: name of the setting with the alias in use; ``table``: name of the setting that
    describes every alias.
    """

    def __init__(self, *, choice: str, table: str) -> None:
        self.choice = choice
        self.table = table
        self._created: dict[str, Backend] = {}
        setting_changed.connect(self._forget)

    @property
    def current(self) -> Backend:
        """The backend in use. Raises ImproperlyConfigured for an alias that is not in the table."""
        return self[getattr(settings, self.choice)]

    def __getitem__(self, alias: str) -> Backend:
        if alias not in self._created:
            self._created[alias] = self._create(alias)
        return self._created[alias]

    def classes(self) -> dict[str, type[Backend]]:
        """Return the class of every alias, without creating a backend."""
        table: dict[str, dict[str, Any]] = getattr(settings, self.table)
        return {alias: import_string(entry["BACKEND"]) for alias, entry in table.items()}

    def _create(self, alias: str) -> Backend:
        table: dict[str, dict[str, Any]] = getattr(settings, self.table)
        if alias not in table:
            known, close = ", ".join(sorted(table)), get_close_matches(alias, table, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise ImproperlyConfigured(
                f"{alias!r} isn't in {self.table}; {self.choice} must be one of: {known}{meant}"
            )
        backend: Backend = import_string(table[alias]["BACKEND"])(
            alias, **table[alias].get("OPTIONS", {})
        )
        return backend

    def _forget(self, *, setting: str, **kwargs: Any) -> None:
        if setting in (self.choice, self.table):
            self._created.clear()
