from collections import Counter

import pytest


def test_people_read_more_than_they_write(run):
    done = run("--users=50", "--arrivals=open", file="locustfiles/mixed.py", seconds=6)

    rows = done.rows("requests.csv")
    asked = Counter((row["request_type"], row["name"]) for row in rows)
    assert done.exit_code == 0, done.output
    assert asked.keys() == {
        ("GET", "/v1/feed/"),
        ("GET", "/v1/people/[id]/posts/"),
        ("POST", "/v1/posts/"),
    }
    for request, share in zip(sorted(asked), (0.6, 0.3, 0.1), strict=True):
        assert asked[request] / asked.total() == pytest.approx(share, abs=0.12)
    assert len(done.rows("accepted.csv")) == asked["POST", "/v1/posts/"]
    assert "audit: clean" in done.output
