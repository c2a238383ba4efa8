import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"FEED_FANOUT": "outbox", "FEED_TIMELINE": "memory"}, "feed.E001"),
        ({"FEED_TIMELINE": "nonsense"}, "must be one of: bulk, memory"),
    ],
    ids=["pair", "name"],
)
def test_a_server_with_bad_settings_does_not_start(wrong, complaint, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py", "--bind=127.0.0.1:0"],
        env={**os.environ, **wrong, "DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"},
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert done.returncode != 0
    assert complaint in done.stderr
