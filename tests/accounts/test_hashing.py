"""The limit of concurrent hashes holds for all processes, even if some are killed."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from accounts.models import Person
from tests.accounts.test_signup import sign_up

HOLD = """
import fcntl, sys
slots = [open(path, "w") for path in sys.argv[1:]]
for slot in slots:
    fcntl.flock(slot, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def slots(settings, tmp_path, db):
    settings.MAX_HASHING = 2
    settings.HASHING_SLOTS_DIR = str(tmp_path)
    return tmp_path


@contextmanager
def hashing_elsewhere(*paths):
    """Another process that holds this many slots."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, *paths], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_sign_up_without_a_free_slot_is_refused_with_retry_after(slots):
    with hashing_elsewhere(slots / "0", slots / "1"):
        response = sign_up()

    assert response.status_code == 429
    assert response["Retry-After"] == "1"
    assert not Person.objects.exists()


def test_a_slot_that_is_free_is_taken_and_released(slots):
    with hashing_elsewhere(slots / "0"):
        assert [sign_up(username=f"ada{n}").status_code for n in range(3)] == [201] * 3


def test_a_killed_process_releases_its_slots(slots):
    with hashing_elsewhere(slots / "0", slots / "1") as process:
        process.kill()
        process.wait()

        assert sign_up().status_code == 201


def test_a_taken_username_is_refused_without_a_hash(slots):
    """All slots are taken, so a hash would be refused."""
    sign_up()

    with hashing_elsewhere(slots / "0", slots / "1"):
        assert sign_up().status_code == 409
