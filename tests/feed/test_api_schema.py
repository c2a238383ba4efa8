"""The API schema: it is public, needs no network, and the API conforms to it."""

import re
from html.parser import HTMLParser

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)

from config.wsgi import application
from tests.conftest import client_of

load_all_checks()
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_wsgi("/v1/schema/", application)


class References(HTMLParser):
    """Collects every ``src`` and ``href`` of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href")]


@pytest.fixture
def anyone():
    return client_of(None)


@schema.parametrize()
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_api_conforms_to_its_schema(case, transactional_db, author):
    author.post("/v1/posts/", {"body": "hello"}, format="json")
    token = author._credentials["HTTP_AUTHORIZATION"]

    case.call_and_validate(headers={"Authorization": token}, checks=CHECKS)


def test_the_schema_is_public_and_describes_every_route(anyone):
    response = anyone.get("/v1/schema/")

    assert response.status_code == 200
    assert set(yaml.safe_load(response.content)["paths"]) == {
        "/v1/activity/summary/",
        "/v1/activity/times/",
        "/v1/activity/visits/",
        "/v1/feed/",
        "/v1/me/export/",
        "/v1/me/exports/",
        "/v1/me/exports/{job_id}/",
        "/v1/me/exports/{job_id}/file/",
        "/v1/me/friends/",
        "/v1/me/friends/{friend_id}/",
        "/v1/me/report/",
        "/v1/people/{author_id}/posts/",
        "/v1/posts/",
        "/v1/posts/{post_id}/",
        "/v1/posts/{post_id}/like/",
        "/v1/signup/",
        "/v1/token/",
        "/v1/token/refresh/",
    }


def test_generating_the_schema_gives_no_warnings(anyone, capsys):
    anyone.get("/v1/schema/")

    assert capsys.readouterr().err == ""


def test_the_schema_says_which_routes_need_a_token(anyone):
    described = yaml.safe_load(anyone.get("/v1/schema/").content)

    needing = {
        path
        for path, operations in described["paths"].items()
        if all({} not in (o.get("security") or [{}]) for o in operations.values())
    }

    open_to_all = {"/v1/signup/", "/v1/token/", "/v1/token/refresh/"}
    assert needing == described["paths"].keys() - open_to_all


def test_the_documentation_is_public(anyone):
    response = anyone.get("/v1/docs/")

    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert "/v1/schema/" in response.text


def test_the_documentation_refers_to_no_other_host(anyone):
    page = anyone.get("/v1/docs/").text

    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", page) == []


def test_everything_the_documentation_loads_is_served_here(anyone):
    references = References(anyone.get("/v1/docs/").text).found

    assert len(references) >= 3
    for reference in references:
        assert reference.startswith("/static/")
        response = anyone.get(reference)
        assert response.status_code == 200
        assert b"".join(response.streaming_content)
        response.close()
