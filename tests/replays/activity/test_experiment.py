"""The experiments of activity on small logs: the published tables, and wrong answers."""

from tests.lab.runs import run

PAGES = ("times", "visits", "summary")


def test_a_volley_on_the_published_tables_is_answered_and_audited(tmp_path):
    small = ("--loads=visits-7", "--users=7", "--people=20")

    done = run(tmp_path, "published-002", "--variants=sqlite-tags_indexed", *small)

    assert done.is_clean
    assert list(done.result["routes"]) == ["GET /v1/activity/visits/"]
    # Each once, all within the second.
    assert (done.result["requests"], done.result["failures"]) == (7, 0)
    assert done.result["balance"]["begun_rps"] == 7
    assert done.result["extra"]["all_mean_ms"] > 0
    assert done.result["audit"]["ok"]
    assert done.result["audit"]["compared"] > 20


def test_a_variant_that_answers_wrongly_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("EXTRA_APPS", "tests.replays.activity.planted.Planted")
    small = ("--people=20", "--users=10", "--run-time=3s")

    done = run(tmp_path, "activity", "--variants=sqlite-indexed", *small)

    assert done.status == 1
    assert done.result["routes"].keys() == {f"GET /v1/activity/{page}/" for page in PAGES}
    assert (done.result["requests"], done.result["failures"]) == (30, 0)  # all that were due
    assert done.result["audit"]["wrong_answers"] > 0
    assert "wrong_answers" in done.report
