"""The end of a headless run: the drain, the audit from outside, limits, and the exit code."""

import re
import sqlite3
import time
from contextlib import closing
from types import SimpleNamespace

import pytest

from lab.faults.running import serving
from tests.answering import standing_in
from tests.locustfiles.load import FEW_PEOPLE, Run

GENEROUS = ("--fail-p99-ms=60000", "--fail-lag-ms=60000", "--fail-ratio=0.9")
LOOKED_FOR = re.compile(
    r"audit: ([\d,]+) posts accepted; looked for ([\d,]+) of (?:about )?([\d,]+) deliveries, in "
    r"(\d+) feeds: (\d+) missing, (\d+) duplicated"
)
FIGURES = "posts", "deliveries", "due", "feeds", "missing", "duplicated"


def audit(run):
    figures = [int(it.replace(",", "")) for it in LOOKED_FOR.search(run.output).groups()]
    return SimpleNamespace(**dict(zip(FIGURES, figures, strict=True)))


def test_all_posts_of_a_good_service_are_found(run):
    done = run(*GENEROUS)

    found = audit(done)
    accepted = done.rows("accepted.csv")
    assert done.exit_code == 0, done.output
    assert found.posts == len(accepted) > 0
    assert found.feeds == len({post["author"] for post in accepted}) <= 20
    assert found.deliveries > found.posts
    assert found.due == found.posts * 21  # friends and oneself
    assert found.missing == found.duplicated == 0
    assert "audit: clean" in done.output
    assert done.broken == []
    assert done.last_line.startswith("PASS: ")
    assert f"audit: {found.posts:,} posts accepted; " in done.last_line


def test_requests_that_fail_are_the_reason_in_the_last_line(run, tmp_path):
    tokens = tmp_path / "forged.csv"
    tokens.write_text("person_id,token\n1,forged\n")

    done = run("--no-audit", f"--tokens={tokens}", "--users=1", "--pace-s=0.5")

    assert done.exit_code == 1
    assert done.last_line.startswith("FAIL: ")
    assert "POST /v1/posts/: " in done.last_line
    assert "status 401" in done.last_line


def test_a_service_that_never_delivers_is_not_clean(tmp_path):
    with serving("sqlite-null", tmp_path, FEW_PEOPLE) as running:
        done = Run(running.service, tmp_path, "--drain-s=1", "--visible-share=0")

    found = audit(done)
    assert done.exit_code == 1
    assert found.missing == found.deliveries > 0
    (backlog,) = set(re.findall(r"the backlog is not empty: ([\d,]+) posts", done.output))
    # Locust ends while a request may be in flight: its post is saved, but nobody saw it accepted.
    assert int(backlog.replace(",", "")) >= found.posts


def test_lost_deliveries_are_missing(tmp_path):
    """Every post gets its receipt, but half of the people lack every third post."""
    with serving("sqlite-outbox-setbased", tmp_path, FEW_PEOPLE) as running:
        with closing(sqlite3.connect(tmp_path / "feed-0.sqlite3")) as database:
            database.execute("""
                CREATE TRIGGER lose AFTER INSERT ON feed_timeline_setbased
                WHEN NEW.owner_id % 2 = 0 AND NEW.post_id % 3 = 0 BEGIN
                    DELETE FROM feed_timeline_setbased
                     WHERE owner_id = NEW.owner_id AND post_id = NEW.post_id;
                END
            """)
        done = Run(running.service, tmp_path, "--visible-share=0")

    found = audit(done)
    assert done.exit_code == 1
    assert found.missing / found.deliveries == pytest.approx(1 / 6, abs=0.1)
    assert "the backlog is not empty" not in done.output
    assert "audit: NOT CLEAN" in done.output


def accepting(posts, shown, waiting=list):
    """Return what answers as a service that accepts posts; its /statusz is always an old one."""

    def answer(method, path, headers):
        if method == "POST":
            post = {"id": len(posts) + 1, "author": 1, "created_at": "2026-01-01T00:00:00Z"}
            posts.append(post | {"at": time.monotonic()})
            return 201, post
        if path == "/v1/me/friends/":
            return 200, {"friends": [2]}
        if path in ("/statusz", "/readyz"):
            return 200, {"backlog": {"posts": len(waiting()) if path == "/readyz" else 0}}
        return 200, {"posts": shown()[:100], "next": None}

    return answer


def run_against(answer, service, folder):
    few = ("--visible-share=0", "--users=5", "--pace-s=0.5")
    with standing_in(answer) as url:
        return Run(service, folder, f"--host={url}", *few)


def test_repeated_deliveries_are_duplicated(service, tmp_path):
    """A service shows every post twice."""
    posts = []
    answer = accepting(posts, lambda: sorted(posts * 2, key=lambda post: -post["id"]))

    done = run_against(answer, service, tmp_path)

    found = audit(done)
    assert done.exit_code == 1
    assert found.duplicated >= found.posts > 0
    assert found.missing == 0


def test_the_last_posts_are_waited_for_though_a_status_does_not_know_them_yet(service, tmp_path):
    """A service shows posts after a second and a half."""
    posts = []

    def waiting():
        return [post for post in posts if time.monotonic() < post["at"] + 1.5]

    def shown():
        late = waiting()
        return [post for post in reversed(posts) if post not in late]

    found = audit(run_against(accepting(posts, shown, waiting), service, tmp_path))

    assert found.posts > 0
    assert (found.missing, found.duplicated) == (0, 0)


def test_a_service_that_cannot_be_reached_has_no_figures_and_is_not_clean(run):
    nowhere = ("--host=http://127.0.0.1:9", "--drain-s=1")

    done = run(*nowhere, "--fail-lag-ms=1000", "--exit-code-on-error=0", seconds=1)

    assert done.exit_code == 1
    assert done.broken == ["--fail-lag-ms"]
    assert "there is no figure to judge by" in done.last_line
    assert "no post was accepted" in done.last_line
    assert "the backlog is not empty: the service is unreachable" in done.output


def test_broken_limits_are_named_with_their_exact_figures(run):
    done = run("--fail-p99-ms=0.001", "--fail-lag-ms=0.001", "--visible-share=0")

    assert done.exit_code == 1
    assert done.broken == ["--fail-lag-ms", "--fail-p99-ms"]
    assert done.last_line.startswith("FAIL: ")
    p99_ms = re.search(r"--fail-p99-ms 0.001 is broken: the p99 .* is ([\d.]+) ms", done.last_line)[
        1
    ]
    times_ms = sorted(float(row["response_time_ms"]) for row in done.rows("requests.csv"))
    assert min(abs(float(p99_ms) - time_ms) for time_ms in times_ms[-3:]) < 1


def test_a_larger_share_of_failures_than_the_limit_fails_the_run(run, service, tmp_path):
    """Half of the requests fail; the limits of other runs here are above what they meet."""
    header, *rows = service.tokens.read_text().split()
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("\n".join([header, *(f"{row}{'x' * (n % 2)}" for n, row in enumerate(rows))]))

    done = run(
        *("--no-audit", "--visible-share=0", "--exit-code-on-error=0", "--fail-ratio=0.4"),
        f"--tokens={tokens}",
    )

    assert done.exit_code == 1, done.output
    assert done.broken == ["--fail-ratio"]
    assert done.last_line.startswith("FAIL: --fail-ratio ")
    assert "audit:" not in done.output
