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

    @property
    def current_class(self) -> type[Backend]:
        """The class of the backend in use, which isn't created. Raises like ``current``."""
        return self._class_of(getattr(settings, self.choice))

    def __getitem__(self, alias: str) -> Backend:
        if alias not in self._created:
            self._created[alias] = self._create(alias)
        return self._created[alias]

    def classes(self) -> dict[str, type[Backend]]:
        """Return the class of every alias whose packages are here, without creating a backend."""
        found = {}
        for alias, entry in self._table.items():
            try:
                found[alias] = import_string(entry["BACKEND"])
            except ModuleNotFoundError as error:
                if entry["BACKEND"].startswith(error.name or ""):  # a wrong path
                    raise
        return found

    def _create(self, alias: str) -> Backend:
        options: dict[str, Any] = self._table.get(alias, {}).get("OPTIONS", {})
        return self._class_of(alias)(alias, **options)  # type: ignore[call-arg]

    def _class_of(self, alias: str) -> type[Backend]:
        table = self._table
        if alias not in table:
            known, close = ", ".join(sorted(table)), get_close_matches(alias, table, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise ImproperlyConfigured(
                f"{alias!r} isn't in {self.table}; {self.choice} must be one of: {known}{meant}"
            )
        try:
            found: type[Backend] = import_string(table[alias]["BACKEND"])
        except ModuleNotFoundError as error:
            raise ImproperlyConfigured(f"{self.choice}={alias}: {error}") from error
        return found

    @property
    def _table(self) -> dict[str, dict[str, Any]]:
        table: dict[str, dict[str, Any]] = getattr(settings, self.table)
        return table

    def _forget(self, *, setting: str, **kwargs: Any) -> None:
        if setting in (self.choice, self.table):
            self._created.clear()
