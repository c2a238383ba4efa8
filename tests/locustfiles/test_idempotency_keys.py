"""Posts with idempotency keys are repeated while nobody knows whether they are stored."""

from collections import Counter

import pytest

from tests.answering import standing_in
from tests.locustfiles.load import Run

USERS = 5


@pytest.fixture
def keys():
    """How often each key was sent."""
    return Counter()


@pytest.fixture
def run(service, keys, tmp_path):
    """Run Locust against a service that answers the first request with each key with 503."""

    def answer(method, path, headers):
        key = headers["Idempotency-Key"]
        keys[key] += 1
        status = 503 if key is None or keys[key] == 1 else 201
        return status, {"id": 1, "author": 1, "created_at": "2026-01-01T00:00:00Z"}

    few = ("--no-audit", f"--users={USERS}", "--visible-share=0")
    with standing_in(answer) as url:
        yield lambda *options: Run(service, tmp_path, f"--host={url}", *few, *options)


def test_a_refused_post_is_repeated_with_its_key(run, keys):
    done = run("--idempotency-keys")

    accepted = done.rows("accepted.csv")
    assert accepted
    assert set(keys.values()) <= {1, 2}
    repeated = sum(times == 2 for times in keys.values())
    assert len(accepted) <= repeated <= len(accepted) + USERS  # each may be cut off by the end


def test_without_the_option_posts_have_no_keys_and_are_not_repeated(run, keys):
    done = run()

    assert set(keys) == {None}
    assert done.rows("accepted.csv") == []
