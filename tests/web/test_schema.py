"""The API conforms to its schema: it answers what the schema says, to what the schema allows."""

import copy
import re
from contextlib import closing

import pytest
import schemathesis
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from config.wsgi import application
from feed.services import publish_post
from tests.conftest import client_of
from tests.routes import routes

load_all_checks()
ALWAYS = [
    not_a_server_error,
    checks.content_type_conformance,
    checks.ignored_auth,
    checks.negative_data_rejection,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.status_code_conformance,
]
VALID_BUT_REFUSED = {
    "POST /v1/signup/": "common passwords, and passwords that resemble the name",
    "POST /v1/me/password/": "the same, and a wrong old password",
    "PUT /v1/me/friends/{friend_id}/": "oneself",
    "PUT /v1/me/blocks/{other_id}/": "oneself",
}
"""Operations that refuse (400) what no schema can describe."""
QUICK = settings(
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def served(environ, start_response):
    """The application, for schemathesis, which doesn't close what it has read."""
    with closing(application(environ, start_response)) as answer:
        return [b"".join(answer)]


ACCEPTED = ["2xx", "401", "403", "404", "409", "422", "429"]
REJECTED = ["400", "401", "404", "405", "413", "415"]
CONFIG = schemathesis.Config.from_dict(
    {
        "checks": {
            "positive_data_acceptance": {"expected-statuses": ACCEPTED},
            "negative_data_rejection": {"expected-statuses": REJECTED},
        },
        "generation": {"with-security-parameters": False},  # each request has a token already
    }
)
schema = schemathesis.openapi.from_wsgi("/v1/schema/", served, config=CONFIG)


def send(case, client):
    accepts_what_is_valid = case.operation.label not in VALID_BUT_REFUSED
    also = [checks.positive_data_acceptance] if accepts_what_is_valid else []
    token = client._credentials["HTTP_AUTHORIZATION"]
    case.call_and_validate(headers={"Authorization": token}, checks=[*ALWAYS, *also])


@pytest.fixture
def one_transaction(db):
    """Keep the connection between requests, since all of them are in the test's transaction."""
    signals = request_started, request_finished
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


in_service = routes("config.urls")
"""Where all replays are installed, only theirs are left to test."""


tested = schema if in_service == routes() else schema.exclude(path=[*in_service])
OPERATIONS = {found.ok().label: found.ok() for found in tested.get_all_operations()}


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_conforms_to_its_schema(label, transactional_db, author):
    author.post("/v1/posts/", {"body": "hello"}, format="json")

    try_to_refute(OPERATIONS[label], author, max_examples=15)


def try_to_refute(operation, client, max_examples):
    """Send valid requests, and invalid ones where an operation takes anything; so many of each."""
    takes = operation.definition.raw.keys() & {"parameters", "requestBody"}
    valid = schemathesis.GenerationMode.POSITIVE
    for mode in schemathesis.GenerationMode if takes else [valid]:

        @settings(QUICK, max_examples=max_examples, phases=[Phase.generate])
        @given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case):
            send(case, client)

        attempt()


def drop_404(described):
    del described["paths"]["/v1/posts/{post_id}/"]["get"]["responses"]["404"]


def describe_bodies(**how):
    """Return a lie: other constraints of a new post's body."""

    def describe(described):
        body = described["components"]["schemas"]["NewPostRequest"]["properties"]["body"]
        body |= how

    return describe


def answer_strings(described):
    described["components"]["schemas"]["Post"]["properties"]["author"] = {"type": "string"}


def require_a_header(described):
    answer = described["paths"]["/v1/feed/"]["get"]["responses"]["200"]
    answer["headers"] = {"X-Total": {"required": True, "schema": {"type": "integer"}}}


def require_a_token(described):
    described["paths"]["/v1/signup/"]["post"]["security"] = [{"token": []}]


@pytest.mark.parametrize(
    ("lie", "label", "found"),
    [
        (drop_404, "GET /v1/posts/{post_id}/", "ST103"),
        (describe_bodies(minLength=2001, maxLength=2001), "POST /v1/posts/", "ST202"),
        (describe_bodies(maxLength=1), "POST /v1/posts/", "ST201"),
        (answer_strings, "GET /v1/feed/", "ST108"),
        (require_a_header, "GET /v1/feed/", "ST107"),
        (require_a_token, "POST /v1/signup/", "ST401"),
    ],
)
def test_a_lie_in_the_schema_is_found(lie, label, found, one_transaction, friends):
    publish_post(author_id=1, body="hello")
    described = copy.deepcopy(schema.raw_schema)
    lie(described)
    lying = schemathesis.openapi.from_dict(described, config=CONFIG)
    lying.app = served
    method, path = label.split()

    with pytest.raises(FailureGroup, match=found):
        try_to_refute(lying[path][method], client_of(1), max_examples=60)


def test_the_schema_is_public_and_describes_every_route(capsys):
    response = client_of(None).get("/v1/schema/")

    assert response.status_code == 200
    assert capsys.readouterr().err == ""  # no warnings
    described = yaml.safe_load(response.content)["paths"]
    found = {path: {name.upper() for name in operations} for path, operations in described.items()}
    pages = ("/v1/schema/", "/v1/docs/")
    assert found == {
        path: methods
        for path, methods in routes().items()
        if path.startswith("/v1/") and path not in pages
    }
    needing = {
        path
        for path, operations in described.items()
        if all({} not in (o.get("security") or [{}]) for o in operations.values())
    }
    open_to_all = {"/v1/signup/", "/v1/token/", "/v1/token/refresh/", "/v1/token/logout/"}
    assert needing == found.keys() - open_to_all


@pytest.mark.parametrize("has_follows", [False, True])
def test_operations_are_in_groups_with_summaries_and_the_feed_is_first(has_follows, request):
    if has_follows:
        request.getfixturevalue("follows_api")
    described = yaml.safe_load(client_of(None).get("/v1/schema/").content)

    groups = [tag["name"] for tag in described["tags"]]
    follows = ["Follows"] if has_follows else []
    assert groups == ["Feed", "Posts", "Friends", *follows, "Blocks", "Account"]
    for path in described["paths"].keys() - (routes().keys() - in_service.keys()):
        for operation in described["paths"][path].values():
            assert operation["tags"][0] in groups
            assert 0 < len(operation["summary"]) < 80
    signup = described["paths"]["/v1/signup/"]["post"]
    assert signup["summary"] == "Sign up"
    assert signup["description"].startswith("Sign up; person, profile")


def test_the_documentation_is_public_and_served_here_whole():
    response = client_of(None).get("/v1/docs/")

    assert response.headers["Content-Type"].startswith("text/html")
    assert "/v1/schema/" in response.text
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", response.text) == []
    references = re.findall(r'(?:src|href)="(.*?)"', response.text)
    assert len(references) >= 3
    for reference in references:
        assert reference.startswith("/static/")
        with closing(client_of(None).get(reference)) as served_file:
            assert b"".join(served_file.streaming_content)
