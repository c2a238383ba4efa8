"""Backends named in settings the way Django names CACHES: alias → BACKEND and OPTIONS."""

from typing import Any, Generic, TypeVar

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

Backend = TypeVar("Backend")


class BackendHandler(Generic[Backend]):
    """The backends of one axis, made on first use and kept.

    ``choice`` names the setting that holds the alias in use, ``table`` the one that describes
    every alias.
    """

    def __init__(self, *, choice: str, table: str) -> None:
        self.choice = choice
        self.table = table
        self._made: dict[str, Backend] = {}
        setting_changed.connect(self._forget)

    @property
    def current(self) -> Backend:
        """The backend in use. Raises ImproperlyConfigured for a name that is not in the table."""
        return self[getattr(settings, self.choice)]

    def __getitem__(self, alias: str) -> Backend:
        if alias not in self._made:
            self._made[alias] = self._make(alias)
        return self._made[alias]

    def _make(self, alias: str) -> Backend:
        table: dict[str, dict[str, Any]] = getattr(settings, self.table)
        if alias not in table:
            known = ", ".join(sorted(table))
            raise ImproperlyConfigured(f"{self.choice} is {alias!r}; it must be one of: {known}")
        backend: Backend = import_string(table[alias]["BACKEND"])(
            alias, **table[alias].get("OPTIONS", {})
        )
        return backend

    def _forget(self, *, setting: str, **kwargs: Any) -> None:
        if setting in (self.choice, self.table):
            self._made.clear()
