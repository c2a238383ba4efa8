"""Limits that break a run, and the exit code that a pipeline sees."""

import pytest

GENEROUS = ["--fail-p99-ms=60000", "--fail-lag-ms=60000", "--fail-ratio=0.9"]

HALF_FAIL = ["--exit-code-on-error=0", "--no-audit", "--visible-share=0"]


@pytest.fixture
def half_of_the_tokens_are_wrong(service, tmp_path):
    header, *rows = service.tokens.read_text().split()
    tokens = tmp_path / "tokens.csv"
    wrong = [row if n % 2 else f"{row}x" for n, row in enumerate(rows)]
    tokens.write_text("\n".join([header, *wrong]))
    return f"--tokens={tokens}"


def test_a_run_that_keeps_its_limits_exits_with_0(run):
    done = run(*GENEROUS)

    assert done.exit_code == 0, done.output
    assert done.broken == []


@pytest.mark.parametrize("limit", ["--fail-p99-ms", "--fail-lag-ms"])
def test_a_broken_limit_is_named_with_its_figure(run, limit):
    done = run(*GENEROUS, f"{limit}=0.001")

    assert done.exit_code == 1
    assert done.broken == [limit]
    assert " is broken: the " in done.output


def test_too_many_failures_break_the_limit(run, half_of_the_tokens_are_wrong):
    done = run("--fail-ratio=0.4", *HALF_FAIL, half_of_the_tokens_are_wrong)

    assert done.exit_code == 1
    assert done.broken == ["--fail-ratio"]


def test_fewer_failures_keep_the_limit(run, half_of_the_tokens_are_wrong):
    done = run("--fail-ratio=0.6", *HALF_FAIL, half_of_the_tokens_are_wrong)

    assert done.exit_code == 0, done.output
    assert done.broken == []


def test_the_p99_is_exact(run):
    done = run("--fail-p99-ms=0.001", "--visible-share=0")

    times = sorted(float(row["response_time_ms"]) for row in done.rows("requests.csv"))
    told = float(done.output.partition("the p99 of all requests is ")[2].partition(" ms")[0])
    assert min(abs(told - time) for time in times[-3:]) < 1


def test_a_limit_without_a_figure_is_broken(run):
    done = run("--host=http://127.0.0.1:9", "--fail-lag-ms=1000", "--no-audit")

    assert done.broken == ["--fail-lag-ms"]
    assert "there is no figure to judge by" in done.output
