"""manage.py, when settings are wrong or servers are away."""

import os

import pytest
from django.db import OperationalError, ProgrammingError
from redis.exceptions import RedisError

from runtime import command_line
from tests.commands import python


@pytest.mark.parametrize(
    ("env", "advice"),
    [
        ({"FEED_STRATEGY": "outbx"}, "outbox_queue, task; did you mean outbox?"),
        ({"FEED_TIMELINE_STORE": "ring"}, "needs TIMELINE_URL or REDIS_URL"),
    ],
)
def test_wrong_settings_are_one_line(env, advice, tmp_path):
    database = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"}
    done = python("manage.py", "check", **database, **env)

    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("manage.py check: ")
    assert advice in line


@pytest.fixture
def failing(monkeypatch):
    """Return a function that runs a command which raises an error."""

    def run(error, *options):
        def fail(argv):
            raise error

        monkeypatch.setattr(command_line, "execute_from_command_line", fail)
        command_line.run(["manage.py", "any", *options])

    return run


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OperationalError("no such table: x"), "is DATABASE_URL right, and did manage.py migrate"),
        (ProgrammingError("no such table: x"), "is DATABASE_URL right, and did manage.py migrate"),
        (RedisError("no such server"), "are REDIS_URL and TIMELINE_URL right?"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_server_that_is_away_is_one_line_unless_a_traceback_is_asked_for(error, advice, failing):
    with pytest.raises(SystemExit) as ended:
        failing(error)
    with pytest.raises(type(error)):
        failing(error, "--traceback")

    (line,) = str(ended.value).splitlines()
    assert line.startswith("manage.py any: ")
    assert f"{error}; " in line
    assert advice in line


@pytest.mark.parametrize(
    ("command", "set_to", "expected"),
    [
        ("migrate", None, "86400"),
        ("migrate", "10", "10"),
        ("seed_people", None, "86400"),
        ("drain", None, None),
    ],
)
def test_only_migrations_and_seeds_wait_for_long_statements(command, set_to, expected, monkeypatch):
    environment = {"DB_READ_TIMEOUT_S": set_to} if set_to else {}
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(command_line, "execute_from_command_line", lambda argv: None)

    command_line.run(["manage.py", command])

    assert environment.get("DB_READ_TIMEOUT_S") == expected
