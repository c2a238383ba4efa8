"""Unknown paths, methods, queries and hosts."""

import pytest

from feed.models import Post
from tests.conftest import assert_refused

INVALID = {
    "limit": ["-1", "0", "101", "abc", "1e9", "1.5", "%00", "9" * 30, ""],
    "before": ["-1", "0", "abc", "1e9", "%00", str(2**63), "9" * 5000, "null", ""],
}


@pytest.mark.parametrize("path", ["/v1/feed/", "/v1/people/1/posts/"])
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in INVALID.items() for value in values],
    ids=lambda text: text[:9],
)
def test_an_invalid_parameter_is_refused_by_name(author, path, name, value):
    response = author.get(f"{path}?{name}={value}")

    assert_refused(response, 400)
    assert list(response.json()) == [name]


def test_a_query_with_too_many_parameters_is_refused(author):
    assert_refused(author.get("/v1/feed/?" + "&".join(f"a{n}=1" for n in range(1001))), 400)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/",
        "/v2/feed/",
        "/v1/nothing/",
        "/v1/feed/1/",
        "/v1/posts/-1/",
        "/v1/posts/1.0/",
        "/v1/posts/%D9%A1/",
        "/v1/posts/1/%0a",
        "/v1/%ff/%00/",
        "/admin/",
        "/static/",
        "/static/nothing.js",
        "/static/../config/settings.py",
        "/static/%2e%2e/config/settings.py",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_route_is_not_found(author, method, path):
    response = author.generic(method, path)

    assert response.status_code in ({404, 405} if path.startswith("/static/") else {404})
    assert response["Content-Type"] == "application/json"


def test_a_post_without_the_trailing_slash_is_not_redirected(author):
    """A client that follows a redirect repeats it as a GET, and the text is lost."""
    response = author.post("/v1/posts", {"body": "hello"}, format="json")

    assert_refused(response, 404)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/posts/", {"POST"}),
        ("/v1/posts/1/", {"GET", "HEAD", "DELETE"}),
        ("/v1/feed/", {"GET", "HEAD"}),
        ("/v1/people/1/posts/", {"GET", "HEAD"}),
        ("/v1/signup/", {"POST"}),
        ("/v1/token/", {"POST"}),
        ("/v1/token/refresh/", {"POST"}),
        ("/v1/token/logout/", {"POST"}),
        ("/v1/me/password/", {"POST"}),
        ("/", {"GET", "HEAD"}),
        ("/healthz", {"GET", "HEAD"}),
        ("/readyz", {"GET", "HEAD"}),
    ],
)
def test_an_unsupported_method_is_refused(author, path, allowed):
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"} - allowed:
        response = author.generic(method, path)

        assert (method, response.status_code) == (method, 405)
        assert response["Content-Type"] == "application/json"
        assert response.json()
    assert not Post.objects.exists()


@pytest.mark.parametrize("path", ["/healthz", "/v1/feed/", "/v1/docs/", "/nothing"])
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "a b][", "x" * 999])
def test_an_unknown_host_is_refused(author, path, host):
    assert_refused(author.get(path, HTTP_HOST=host), 400)


def test_a_forwarded_host_does_not_reach_the_answer(author):
    for body in ("one", "two"):
        author.post("/v1/posts/", {"body": body}, format="json")

    response = author.get("/v1/feed/?limit=1", HTTP_X_FORWARDED_HOST="evil.example")

    assert response.json()["next"].startswith("http://testserver/v1/feed/?")
