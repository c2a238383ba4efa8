"""manage.py, when settings are wrong or servers are away."""

import os
import subprocess
import sys

import pytest

AWAY = "redis://127.0.0.1:1/0"


def manage(tmp_path, *arguments, **env):
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=os.environ | {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"} | env,
        capture_output=True,
        text=True,
        timeout=120,
    )


REDIS = {"FEED_TIMELINE_STORE": "ring", "TIMELINE_URL": AWAY, "REDIS_URL": AWAY}


@pytest.mark.parametrize(
    ("command", "env", "advice"),
    [
        ("check", {"FEED_STRATEGY": "outbx"}, "outbox_celery, task; did you mean outbox?"),
        ("check", {"FEED_TIMELINE_STORE": "ring"}, "needs TIMELINE_URL or REDIS_URL"),
        ("list_poison", {}, "no such table: feed_poison; is DATABASE_URL right, and did manage.py"),
        ("list_poison", {"DATABASE_URL": "sqlite:////nowhere/x"}, "is DATABASE_URL right"),
        ("begin_epoch", REDIS, "are REDIS_URL and TIMELINE_URL right?"),
    ],
)
def test_what_is_wrong_is_one_line(command, env, advice, tmp_path):
    if env is REDIS:
        assert manage(tmp_path, "migrate", "--verbosity=0").returncode == 0

    done = manage(tmp_path, command, **env)

    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith(f"manage.py {command}: ")
    assert advice in line


def test_a_traceback_is_shown_if_asked_for(tmp_path):
    assert "Traceback" in manage(tmp_path, "list_poison", "--skip-checks", "--traceback").stderr
