from contextlib import nullcontext

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection

from tests.commands import python


@pytest.mark.parametrize(("threads", "warned"), [(4, False), (1000, True)])
def test_more_threads_than_connections_give_a_warning(threads, warned, settings, db, capsys):
    settings.WEB_WORKERS, settings.WEB_THREADS = 2, threads

    call_command("check", databases=["default"])

    told = "feed.W001" in capsys.readouterr().err
    assert told == (warned and connection.vendor != "sqlite")


@pytest.mark.parametrize(
    ("chosen", "refusal"),
    [
        ({"FEED_STRATEGY": "chunked", "FEED_TIMELINE_STORE": "pull"}, "E002"),
        ({"FEED_STRATEGY": "chunked", "FEED_TIMELINE_STORE": "setbased"}, None),
        *(({"FEED_SHARDS": shards}, "E004") for shards in (-64, 3, 100, 2**15)),
        *(({"FEED_SHARDS": shards}, None) for shards in (0, 1, 1024, 2**14)),
        ({"FEED_VISIBILITY": "nobody"}, "E005"),
        *(({"FEED_PULL_ABOVE": above}, "E006") for above in ("many", -1)),
        *(({"FEED_PULL_ABOVE": above}, None) for above in ("auto", 5)),
        ({"REDIS_URL": "redis+cluster://127.0.0.1:7000"}, "E007"),
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(chosen, refusal, settings):
    for name, value in chosen.items():
        setattr(settings, name, value)

    with pytest.raises(SystemCheckError, match=rf"feed\.{refusal}") if refusal else nullcontext():
        call_command("check")


def test_old_names_of_settings_are_refused_with_their_new_ones():
    renamed = {
        "FEED_FANOUT": "FEED_STRATEGY",
        "FEED_TIMELINE": "FEED_TIMELINE_STORE",
        "SIGNUP_MAX_HASHING": "MAX_HASHING",
        "SIGNUP_SLOTS_DIR": "HASHING_SLOTS_DIR",
    }
    checked = python("manage.py", "check", **dict.fromkeys(renamed, "1"))

    assert checked.returncode == 1
    assert checked.stderr.count("feed.E008") == 4
    for old, new in renamed.items():
        assert f"Set {new} instead, and remove {old}." in checked.stderr
