"""What a SQLite file tells; tests/system asks MariaDB through /readyz."""

import os

import pytest
from django.db import connection

from db.writes import why_not

NOBODY = 65534

pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="has no file")


def test_a_file_that_may_not_be_written_is_read_only(monkeypatch):
    user = os.geteuid()
    monkeypatch.setitem(connection.settings_dict, "NAME", "/proc/version")
    try:
        if user == 0:
            os.seteuid(NOBODY)  # root may write everything
        assert why_not() == "read-only"
    finally:
        os.seteuid(user)


def test_a_full_disk_takes_no_writes(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setitem(connection.settings_dict, "NAME", str(file))
    assert why_not() is None

    monkeypatch.setattr("db.writes.LEAST_FREE_BYTES", 2**60)
    assert why_not() == "disk full"
