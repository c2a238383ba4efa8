"""``make mysql`` without apt or network; the tests on MySQL cover its success."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path("launch/servers/unpack_mysql.sh").resolve()


def unpack(folder, **environment):
    return subprocess.run(
        ["/bin/sh", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def without_apt(tmp_path):
    """A PATH with basic programs, without apt."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "id", "mkdir", "rm"):
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_a_missing_program_is_named(tmp_path, without_apt):
    done = unpack(tmp_path, PATH=without_apt)

    assert done.returncode == 1
    assert done.stderr == "No MySQL: apt-get is missing; this needs Debian\n"


@pytest.mark.skipif(not shutil.which("apt-get"), reason="the mirror is asked by apt")
def test_an_unreachable_mirror_is_named_and_nothing_is_left(tmp_path):
    proxy = {f"{scheme}_proxy": "http://127.0.0.1:9" for scheme in ("http", "https")}

    done = unpack(tmp_path, PATH=os.environ["PATH"], **proxy)

    assert done.returncode == 1
    assert "No MySQL: " in done.stderr
    assert not list(tmp_path.iterdir())
