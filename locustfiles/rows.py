"""CSV files that a load generator writes, row by row."""

import csv
import os
from collections.abc import Sequence
from typing import Any

from locust.env import Environment
from locust.runners import MasterRunner

from locustfiles.people import own_file


def plays(environment: Environment) -> bool:
    """Return whether this process has users; a master has none."""
    return not isinstance(environment.runner, MasterRunner)


class RowLog:
    """A CSV file of this process; a master, which has no users, writes none."""

    def __init__(self, environment: Environment, path: str, columns: Sequence[str]) -> None:
        file = own_file(environment, path) if plays(environment) else os.devnull
        self._file = open(file, "w", newline="", buffering=1)  # noqa: SIM115, PTH123
        self._rows = csv.writer(self._file)
        self._rows.writerow(columns)
        environment.events.quitting.add_listener(self._close)

    def write(self, *values: object) -> None:
        self._rows.writerow(values)

    def _close(self, **kwargs: Any) -> None:
        self._file.close()
