# mypy: ignore-errors
"""Tells which safeguard is missing at the moment, and puts something else in its place."""

import os
from functools import wraps
from pathlib import Path

# A file of the laboratory's (Running.lack), beside another one that the service knows.
FILE = Path(os.environ["HASHING_SLOTS_DIR"]).with_name("lacking")


def lacks(safeguard: str) -> bool:
    return FILE.exists() and FILE.read_text() == safeguard


def without(safeguard: str, owner: object, name: str):
    """Let the decorated function stand in for ``owner.name`` while a safeguard is missing.

    It gets the original first, then the arguments.
    """

    def replace(stand_in):
        original = getattr(owner, name)

        @wraps(original)
        def chosen(*args, **kwargs):
            if lacks(safeguard):
                return stand_in(original, *args, **kwargs)
            return original(*args, **kwargs)

        setattr(owner, name, chosen)
        return stand_in

    return replace
