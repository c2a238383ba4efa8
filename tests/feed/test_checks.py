import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection


@pytest.mark.parametrize(("threads", "warned"), [(4, False), (1000, True)])
def test_more_threads_than_connections_are_warned_of(threads, warned, settings, db, capsys):
    settings.WEB_WORKERS, settings.WEB_THREADS = 2, threads

    call_command("check", databases=["default"])

    told = "feed.W001" in capsys.readouterr().err
    assert told == (warned and connection.vendor == "mysql")


@pytest.mark.parametrize(("store", "refused"), [("memory", True), ("setbased", False)])
def test_parts_of_a_post_need_a_store_that_takes_them(store, refused, settings):
    settings.FEED_FANOUT, settings.FEED_TIMELINE = "chunked", store

    if refused:
        with pytest.raises(SystemCheckError, match=r"feed\.E002"):
            call_command("check")
    else:
        call_command("check")
