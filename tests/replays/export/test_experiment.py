"""The experiments of export, small: their check passes, and its control fails."""

from replays.export import published
from tests.lab.runs import run


def test_exports_are_checked_in_a_small_replay(tmp_path, monkeypatch):
    monkeypatch.setattr(published, "POSTS_EACH", 20)
    small = ("--users=4", "--run-time=6s", "--people=6", "--friends=3")

    done = run(tmp_path, "published-004", "--variants=sqlite-direct", *small)

    audit = done.result["audit"]  # not ok with no export among the few requests
    assert done.is_clean == audit["ok"]
    assert (audit["incomplete"], audit["different"]) == (0, 0)
    assert done.result["requests"] > 0
    assert done.result["failures"] == 0
    assert done.result["balance"]["pace_s"] == 3


def test_exports_that_a_job_cut_short_are_found(tmp_path, monkeypatch):
    monkeypatch.setenv("EXTRA_APPS", "tests.replays.export.cut_short.CutShort")
    small = ("--users=3", "--people=6", "--friends=2", "--run-time=6s")

    done = run(tmp_path, "export", "--variants=mysql_tuned-background", *small)

    audit = done.result["audit"]
    assert done.status == 1
    assert not audit["ok"]
    assert audit["incomplete"] == audit["exports"] > 0
    assert audit["broken_promises"] == 0
    assert done.result["extra"]["ordinary_mean_ms"] > 0
    assert done.result["extra"]["expensive_mean_ms"] > 0
    assert done.result["routes"]["FEED export from order to file"]["requests"] > 0
    assert "GET /v1/me/export/" not in done.result["routes"]
