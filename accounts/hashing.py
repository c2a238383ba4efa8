"""How passwords are hashed, and a bound on how many at once."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from rest_framework.exceptions import Throttled

RETRY_AFTER_S = 1


class Argon2(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: a fifth of the memory of Django's defaults.

    https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1


class NoSlot(Throttled):
    """The limit of passwords hashed at the same time is reached; the API answers 429."""

    def __init__(self) -> None:
        super().__init__(wait=RETRY_AFTER_S)


@contextmanager
def slot() -> Iterator[None]:
    """Hold a slot for one hash. Raises NoSlot at once if the limit is reached.

    A slot is a lock on one of the folder's files; a process that dies releases its lock.
    """
    if not settings.MAX_HASHING:
        yield
        return
    folder = Path(settings.HASHING_SLOTS_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    taken = _take(folder, settings.MAX_HASHING)
    try:
        yield
    finally:
        os.close(taken)


def hash_password(password: str) -> str:
    """Return the hash of a password. Raises NoSlot."""
    with slot():
        return make_password(password)


def _take(folder: Path, slots: int) -> int:
    for number in range(slots):
        slot = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(slot)
        else:
            return slot
    raise NoSlot
