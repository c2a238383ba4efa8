"""Refused writes: a 4xx with the reason as JSON, and nothing is written."""

import pytest
from werkzeug.test import Client

from config.wsgi import application
from feed.models import IdempotencyKey, Post
from tests.conftest import assert_refused, client_of

JSON = "application/json"
URLS = pytest.mark.parametrize(
    "url", ["/v1/posts/", "/v1/signup/", "/v1/token/", "/v1/token/refresh/"]
)


def send(client, data, content_type=JSON, url="/v1/posts/"):
    return client.post(url, data, content_type=content_type)


def assert_refused_whole(response, status=400):
    assert_refused(response, status)
    assert not Post.objects.exists()
    assert not IdempotencyKey.objects.exists()


@URLS
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"   ", id="spaces"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"{'body': 'x'}", id="single quotes"),
        pytest.param(b'{"body": "x"} x', id="more after the end"),
        pytest.param(b'\xef\xbb\xbf{"body": "x"}', id="byte order mark"),
        pytest.param(b'{"body": "\xff\xfe"}', id="invalid UTF-8"),
        pytest.param(b'{"body": "\xed\xa0\x80"}', id="surrogate in UTF-8"),
        pytest.param(b'{"body": "a\nb"}', id="raw line break"),
        pytest.param(b'{"body": "\x00"}', id="raw NUL"),
        pytest.param(b'{"body": "\\x"}', id="unknown escape"),
        pytest.param(b'{"body": NaN}', id="NaN"),
        pytest.param(b'{"body": -Infinity}', id="Infinity"),
        pytest.param(b'{"body": ' + b"9" * 5000 + b"}", id="integer of 5000 digits"),
        pytest.param(b"[" * 1000 + b"]" * 1000, id="deep list"),
        pytest.param(b"[" * 60_000, id="deeper list"),
        pytest.param(b'{"body":' * 5000 + b"1" + b"}" * 5000, id="deep object"),
        pytest.param(b"[]", id="empty list"),
        pytest.param(b'[{"body": "x"}]', id="list"),
        pytest.param(b'"body"', id="string"),
        pytest.param(b"1", id="number"),
        pytest.param(b"true", id="boolean"),
        pytest.param(b"null", id="null"),
        pytest.param(b"{}", id="empty object"),
    ],
)
def test_what_is_not_a_json_object_is_refused(author, url, data):
    assert_refused_whole(send(author, data, url=url))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"null", id="null"),
        pytest.param(b"1", id="number"),
        pytest.param(b"1e999", id="float beyond its range"),
        pytest.param(b"9" * 4000, id="integer of 4000 digits"),
        pytest.param(b"true", id="boolean"),
        pytest.param(b'["x"]', id="list"),
        pytest.param(b'{"x": "y"}', id="object"),
        pytest.param(b"[" * 900 + b"]" * 900, id="deep list"),
        pytest.param(b'""', id="empty"),
        pytest.param(b'" \\n\\t\\u00a0\\u2003 "', id="only spaces"),
        pytest.param(b'"' + b"x" * 2001 + b'"', id="2001 characters"),
        pytest.param(b'"' + "😀".encode() * 2001 + b'"', id="2001 emoji"),
        pytest.param(b'"a\\u0000b"', id="NUL"),
        pytest.param(b'"\\ud800"', id="lone high surrogate"),
        pytest.param(b'"a\\udfffb"', id="lone low surrogate"),
        pytest.param(b'"\\ude00\\ud83d"', id="surrogates in the wrong order"),
    ],
)
def test_an_invalid_body_is_refused_by_name(author, body):
    response = send(author, b'{"body": ' + body + b"}")

    assert_refused_whole(response)
    assert list(response.json()) == ["body"]


@pytest.mark.parametrize("name", ["author", "author_id", "id", "created_at", "delivered_at", "x"])
def test_a_field_that_clients_may_not_set_is_refused_by_name(author, name):
    response = author.post("/v1/posts/", {"body": "hello", name: 2}, format="json")

    assert_refused_whole(response)
    assert list(response.json()) == [name]


@URLS
@pytest.mark.parametrize("size", [64 * 1024 + 1, 2_000_000, 10_000_000])
def test_a_large_request_is_refused(author, url, size):
    data = b'{"body": "x"' + b" " * (size - 13) + b"}"

    assert_refused_whole(send(author, data, url=url), 413)


def test_a_request_of_the_largest_size_is_accepted(author):
    assert send(author, b'{"body": "x"}'.ljust(64 * 1024)).status_code == 201


@URLS
@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/html; charset=utf-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "application/jsonp",
        "application/json, text/html",
        "application",
    ],
)
def test_other_content_types_are_refused(author, url, content_type):
    assert_refused_whole(send(author, b'{"body": "hello"}', content_type, url), 415)


@pytest.mark.parametrize("charset", ["utf-16", "rot13", "base64", "undefined"])
def test_json_is_utf_8_whatever_charset_is_declared(author, charset):
    text = '{"body": "h\u00e9llo"}'

    assert_refused_whole(send(author, text.encode("utf-16"), f"{JSON}; charset={charset}"))
    read = send(author, text.encode(), f"{JSON}; charset={charset}")
    assert read.json()["body"] == "h\u00e9llo"


@pytest.mark.parametrize(
    "parameter", ["charset*=utf-8''%00", "charset*=nonsense''x"], ids=["NUL", "unknown encoding"]
)
def test_a_content_type_that_cannot_be_decoded_is_refused(transactional_db, friends, parameter):
    """Django decodes it before its error handling, so this calls the WSGI application."""
    token = client_of(1)._credentials["HTTP_AUTHORIZATION"]

    response = Client(application).post(
        "/v1/posts/",
        data=b'{"body": "hello"}',
        headers={"Content-Type": f"{JSON}; {parameter}", "Authorization": token},
    )

    assert response.status_code in (400, 415)
    assert response.mimetype == JSON
    assert not Post.objects.exists()
