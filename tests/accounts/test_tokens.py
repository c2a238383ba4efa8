"""Getting tokens, and refused tokens."""

import base64
import json
from datetime import timedelta

import jwt
import pytest
from django.utils import timezone

from accounts.models import Person
from feed.models import Post
from tests.conftest import client_of

CREDENTIALS = {"username": "ada", "password": "correct horse"}


@pytest.fixture
def ada(db, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    person = Person(username=CREDENTIALS["username"])
    person.set_password(CREDENTIALS["password"])
    person.save()
    return person


def post(path, data):
    return client_of(None).post(path, data, format="json")


def read_feed(authorization):
    return client_of(None).get("/v1/feed/", headers={"Authorization": authorization})


def claims(**changes):
    valid = {"token_type": "access", "jti": "1", "user_id": "1", "exp": timezone.now().timestamp()}
    valid["exp"] += 1000
    return {name: value for name, value in (valid | changes).items() if value is not None}


def signed(settings, **changes):
    return jwt.encode(claims(**changes), settings.SECRET_KEY, algorithm="HS256")


def unsigned(header, payload=b"{}"):
    """Return a token with any header and an invalid signature."""
    parts = (base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (header, payload))
    return ".".join([*parts, "x"])


def assert_unauthorized(response):
    assert response.status_code == 401
    assert response["Content-Type"] == "application/json"
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["detail"]


def test_only_the_right_password_gets_an_access_token(ada):
    tokens = post("/v1/token/", CREDENTIALS).json()

    assert set(tokens) == {"access", "refresh"}
    assert read_feed(f"Bearer {tokens['access']}").status_code == 200
    for wrong in ({"password": "wrong"}, {"username": "' OR 1=1 --"}):
        assert_unauthorized(post("/v1/token/", CREDENTIALS | wrong))


@pytest.mark.parametrize("value", [None, [], {}, True, "", "\0", "\ud800"], ids=ascii)
@pytest.mark.parametrize("name", ["username", "password"])
def test_credentials_that_are_not_text_are_refused_by_name(ada, name, value):
    data = json.dumps(CREDENTIALS | {name: value})

    response = client_of(None).post("/v1/token/", data, content_type="application/json")

    assert response.status_code == 400
    assert list(response.json()) == [name]


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer a b", "Basic eDp5", "Token x", "é", "Bearer é", "Bearer a.b.c"],
)
def test_a_malformed_authorization_is_refused(db, authorization):
    assert_unauthorized(read_feed(authorization))


@pytest.mark.parametrize(
    "header",
    [
        b"\xff",
        b"[]",
        b"[" * 5000,
        b'{"a":' * 1000,
        b'{"alg": ' + b"9" * 5000 + b"}",
        b'{"alg": []}',
        b'{"alg": "\\ud800"}',
        b'{"alg": "HS256", "kid": 1}',
        b'{"alg": "HS256", "crit": [[]]}',
    ],
    ids=lambda header: ascii(header[:24]),
)
def test_a_forged_token_header_is_refused(db, header):
    token = unsigned(header)

    assert_unauthorized(read_feed(f"Bearer {token}"))
    assert_unauthorized(post("/v1/token/refresh/", {"refresh": token}))


def test_a_token_that_was_not_signed_with_our_key_is_refused(friends, settings):
    header, _, signature = signed(settings).split(".")
    _, payload, _ = signed(settings, user_id="2").split(".")
    unsigned_token = jwt.encode(claims(), None, algorithm="none")
    forged = jwt.encode(claims(), "another key " * 4, algorithm="HS256")

    for token in (f"{header}.{payload}.{signature}", unsigned_token, forged):
        assert_unauthorized(read_feed(f"Bearer {token}"))
    assert read_feed(f"Bearer {signed(settings)}").status_code == 200


def test_a_token_that_lacks_a_claim_is_refused(friends, settings):
    for missing in ("exp", "jti", "token_type", "user_id"):
        assert_unauthorized(read_feed(f"Bearer {signed(settings, **{missing: None})}"))


@pytest.mark.parametrize("keys", [{}, {"Idempotency-Key": "key"}], ids=["without key", "with key"])
def test_a_person_who_does_not_exist_cannot_post(transactional_db, friends, settings, keys):
    for user_id in ("99", "0", "-1", str(2**63), "9" * 5000, "abc", "", [1]):
        headers = {"Authorization": f"Bearer {signed(settings, user_id=user_id)}"} | keys
        answer = client_of(None).post("/v1/posts/", {"body": "x"}, format="json", headers=headers)
        assert_unauthorized(answer)

    assert not Post.objects.exists()


def test_a_token_verified_before_still_expires(friends, monkeypatch):
    client = client_of(1)
    assert client.get("/v1/feed/").status_code == 200

    later = timezone.now() + timedelta(days=2)
    monkeypatch.setattr("accounts.authentication.aware_utcnow", lambda: later)

    assert client.get("/v1/feed/").status_code == 401
