import os
import subprocess
import sys

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection


@pytest.mark.parametrize(("threads", "warned"), [(4, False), (1000, True)])
def test_more_threads_than_connections_give_a_warning(threads, warned, settings, db, capsys):
    settings.WEB_WORKERS, settings.WEB_THREADS = 2, threads

    call_command("check", databases=["default"])

    told = "feed.W001" in capsys.readouterr().err
    assert told == (warned and connection.vendor == "mysql")


@pytest.mark.parametrize(("store", "refused"), [("pull", True), ("setbased", False)])
def test_partial_delivery_needs_a_store_that_accepts_it(store, refused, settings):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "chunked", store

    if refused:
        with pytest.raises(SystemCheckError, match=r"feed\.E002"):
            call_command("check")
    else:
        call_command("check")


@pytest.mark.parametrize("shards", [-64, 3, 100, 2**15])
def test_shards_must_be_a_power_of_two(shards, settings):
    settings.FEED_SHARDS = shards

    with pytest.raises(SystemCheckError, match=r"feed\.E004"):
        call_command("check")


@pytest.mark.parametrize("shards", [0, 1, 1024, 2**14])
def test_a_power_of_two_is_accepted(shards, settings):
    settings.FEED_SHARDS = shards

    call_command("check")


@pytest.mark.parametrize(
    ("above", "refused"), [("auto", False), (5, False), ("many", True), (-1, True)]
)
def test_a_threshold_is_a_number_or_auto(above, refused, settings):
    settings.FEED_PULL_ABOVE = above

    if refused:
        with pytest.raises(SystemCheckError, match=r"feed\.E006"):
            call_command("check")
    else:
        call_command("check")


@pytest.mark.parametrize("name", ["REDIS_URL", "CELERY_BROKER_URL"])
def test_cache_and_broker_in_a_cluster_are_refused(name, settings):
    setattr(settings, name, "redis+cluster://127.0.0.1:7000")

    with pytest.raises(SystemCheckError, match=r"feed\.E007"):
        call_command("check")


def test_old_names_of_settings_are_refused_with_their_new_ones():
    renamed = {
        "FEED_FANOUT": "FEED_STRATEGY",
        "FEED_TIMELINE": "FEED_TIMELINE_STORE",
        "SIGNUP_MAX_HASHING": "MAX_HASHING",
        "SIGNUP_SLOTS_DIR": "HASHING_SLOTS_DIR",
    }
    checked = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=os.environ | dict.fromkeys(renamed, "1"),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert checked.returncode == 1
    assert checked.stderr.count("feed.E008") == 4
    for old, new in renamed.items():
        assert f"Set {new} instead, and remove {old}." in checked.stderr
