"""The API conforms to its schema: it answers what the schema says, to what the schema allows."""

import copy
import re
from contextlib import closing
from html.parser import HTMLParser

import hypothesis
import pytest
import schemathesis
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

import feed.services
from accounts.services import sign_up
from config.wsgi import application
from feed.models import Post
from tests.conftest import client_of
from tests.routes import routes
from tests.web.replays import INSTALLED, make_exports

load_all_checks()
ALWAYS = [
    not_a_server_error,
    checks.content_type_conformance,
    checks.ignored_auth,
    checks.negative_data_rejection,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.status_code_conformance,
    checks.unsupported_method,
]
LINKED = [*ALWAYS, checks.ensure_resource_availability, checks.use_after_free]
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
FOLLOW = settings(QUICK, stateful_step_count=8, phases=[Phase.generate])
LINKED_OF_REPLAYS = {
    ("PUT /v1/posts/{post_id}/like/", 204),
    ("GET /v1/me/exports/{job_id}/", 200),
    ("GET /v1/me/exports/{job_id}/file/", 200),
}
UNTIL_FOUND = 300
"""Walks in which a fault is surely found; they end with the first that finds it."""


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


class References(HTMLParser):
    """Collects every ``src`` and ``href`` of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href")]


def token_of(client):
    return {"Authorization": client._credentials["HTTP_AUTHORIZATION"]}


def send(case, client):
    accepts_what_is_valid = case.operation.label not in VALID_BUT_REFUSED
    also = [checks.positive_data_acceptance] if accepts_what_is_valid else []
    case.call_and_validate(headers=token_of(client), checks=[*ALWAYS, *also])


@pytest.fixture
def anyone():
    return client_of(None)


@pytest.fixture
def one_transaction(db):
    """Keep the connection between requests, since all of them are in the test's transaction."""
    signals = request_started, request_finished
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def walks(one_transaction, friends, tmp_path, settings):
    """Follow the links of a schema; return the operations and statuses that were reached."""
    settings.EXPORT_DIR = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    sign_up(username="someone", password="correct horse", name="")

    def walk(schema, most):
        reached = set()
        linked = schema.include(path_regex="^/v1/(posts|me/exports|token)/")
        machine(linked, reached).run(settings=hypothesis.settings(FOLLOW, max_examples=most))
        return reached

    return walk


@schema.parametrize()
@settings(QUICK, max_examples=40)
def test_an_operation_conforms_to_its_schema(case, transactional_db, author):
    author.post("/v1/posts/", {"body": "hello"}, format="json")

    send(case, author)


def machine(schema, reached):
    """Follow the schema's links as person 1, who also logs in and makes the ordered exports."""

    class Follower(schema.as_state_machine()):
        def setup(self):
            """Begin each walk with the same rows and ids; else Hypothesis can't repeat it."""
            self.walk = transaction.atomic()
            self.walk.__enter__()

        def teardown(self):
            transaction.set_rollback(True)
            self.walk.__exit__(None, None, None)

        def before_call(self, case):
            if case.operation.label == "POST /v1/token/":
                case.body = {"username": "someone", "password": "correct horse"}

        def get_call_kwargs(self, case):
            return {"headers": token_of(client_of(1))}

        def after_call(self, response, case):
            super().after_call(response, case)
            reached.add((case.operation.label, response.status_code))
            make_exports()

        def validate_response(self, response, case, **kwargs):
            case.validate_response(
                response,
                checks=LINKED,
                headers=kwargs["headers"],
                transport_kwargs=kwargs,
                recorder=self.recorder,
            )

    return Follower


def test_links_lead_to_what_was_created_until_it_is_deleted(walks):
    reached = walks(schema, most=100 if INSTALLED else 25)

    assert {
        ("GET /v1/posts/{post_id}/", 200),
        ("DELETE /v1/posts/{post_id}/", 204),
        ("POST /v1/token/refresh/", 200),
        ("POST /v1/token/logout/", 204),
        *(LINKED_OF_REPLAYS if INSTALLED else ()),
    } <= reached


def test_a_deleted_post_that_is_still_there_is_found(walks, monkeypatch):
    monkeypatch.setattr(feed.services, "delete_post", lambda **_: None)

    with pytest.raises(FailureGroup, match="ST301"):
        walks(schema, most=UNTIL_FOUND)


def test_a_created_post_that_is_not_there_is_found(walks, monkeypatch):
    monkeypatch.setattr(Post.objects, "live", Post.objects.none)

    with pytest.raises(FailureGroup, match="ST302"):
        walks(schema, most=UNTIL_FOUND)


def try_to_refute(operation):
    """Send valid and invalid requests."""
    for mode in schemathesis.GenerationMode:

        @settings(QUICK, max_examples=60, phases=[Phase.generate])
        @given(case=operation.as_strategy(generation_mode=mode))
        def attempt(case):
            send(case, client_of(1))

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
        (describe_bodies(pattern="^ +$"), "POST /v1/posts/", "ST202"),
        (describe_bodies(maxLength=1), "POST /v1/posts/", "ST201"),
        (answer_strings, "GET /v1/feed/", "ST108"),
        (require_a_header, "GET /v1/feed/", "ST107"),
        (require_a_token, "POST /v1/signup/", "ST401"),
    ],
)
def test_a_lie_in_the_schema_is_found(lie, label, found, one_transaction, friends):
    feed.services.publish_post(author_id=1, body="hello")
    described = copy.deepcopy(schema.raw_schema)
    lie(described)
    lying = schemathesis.openapi.from_dict(described, config=CONFIG)
    lying.app = served
    method, path = label.split()

    with pytest.raises(FailureGroup, match=found):
        try_to_refute(lying[path][method])


def test_the_schema_is_public_and_describes_every_route(anyone, capsys):
    response = anyone.get("/v1/schema/")

    assert response.status_code == 200
    assert capsys.readouterr().err == ""  # no warnings
    described = yaml.safe_load(response.content)["paths"]
    assert {path: {it.upper() for it in operations} for path, operations in described.items()} == {
        path: methods
        for path, methods in routes().items()
        if path.startswith("/v1/") and path not in ("/v1/schema/", "/v1/docs/")
    }


def test_the_schema_says_which_routes_need_a_token(anyone):
    described = yaml.safe_load(anyone.get("/v1/schema/").content)

    needing = {
        path
        for path, operations in described["paths"].items()
        if all({} not in (o.get("security") or [{}]) for o in operations.values())
    }

    open_to_all = {"/v1/signup/", "/v1/token/", "/v1/token/refresh/", "/v1/token/logout/"}
    assert needing == described["paths"].keys() - open_to_all


def test_the_documentation_is_public_and_served_here_whole(anyone):
    response = anyone.get("/v1/docs/")

    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert "/v1/schema/" in response.text

    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", response.text) == []
    references = References(response.text).found
    assert len(references) >= 3
    for reference in references:
        assert reference.startswith("/static/")
        response = anyone.get(reference)
        assert response.status_code == 200
        assert b"".join(response.streaming_content)
        response.close()
