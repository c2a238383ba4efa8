"""Writing, reading and deleting a post over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from feed.models import Post
from tests.conftest import assert_refused, client_of


def publish(client, body="hello"):
    response = client.post("/v1/posts/", {"body": body}, format="json")
    assert response.status_code == 201
    return response.json()


def test_a_created_post_answers_its_four_fields_and_nothing_else(author):
    post = publish(author)

    assert set(post) == {"id", "author", "body", "created_at"}
    assert (post["author"], post["body"]) == (1, "hello")
    assert post["id"] == Post.objects.get().id
    age = datetime.now(UTC) - datetime.fromisoformat(post["created_at"])
    assert abs(age) < timedelta(seconds=10)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x" * 2000, id="2000 characters"),
        pytest.param("😀" * 2000, id="2000 astral emoji"),
        pytest.param("👩‍👩‍👧‍👦 e\u0301 \u202e\ufeff\u2028 א", id="marks and directions"),
        pytest.param("<script>alert('1')</script> %s {} \\ \"", id="markup and quotes"),
        pytest.param("first\nsecond\r\n\tthird", id="lines"),
        pytest.param("'; DROP TABLE feed_post; --", id="SQL"),
    ],
)
def test_any_text_is_returned_as_sent(author, body):
    created = publish(author, body)

    assert created["body"] == body
    assert author.get(f"/v1/posts/{created['id']}/").json() == created


def test_answers_are_json_for_any_accept_header(author):
    response = author.post("/v1/posts/", {"body": "x"}, format="json", HTTP_ACCEPT="text/html")

    assert response.status_code == 201
    assert response["Content-Type"] == "application/json"


def test_a_deleted_post_is_gone_with_its_text(author):
    post_id = publish(author)["id"]

    response = author.delete(f"/v1/posts/{post_id}/")

    assert (response.status_code, response.content) == (204, b"")
    assert_refused(author.get(f"/v1/posts/{post_id}/"), 404)
    assert Post.objects.get(id=post_id).body == ""


def test_a_post_can_be_deleted_only_once(author):
    post_id = publish(author)["id"]
    author.delete(f"/v1/posts/{post_id}/")
    deleted_at = Post.objects.get(id=post_id).deleted_at

    response = author.delete(f"/v1/posts/{post_id}/")

    assert_refused(response, 404)
    assert_refused(client_of(2).delete(f"/v1/posts/{post_id}/"), 404)
    assert Post.objects.get(id=post_id).deleted_at == deleted_at


@pytest.mark.parametrize("person", [2, 4, 99], ids=["a friend", "a stranger", "nobody"])
def test_only_its_author_deletes_a_post(author, person):
    post_id = publish(author)["id"]

    response = client_of(person).delete(f"/v1/posts/{post_id}/")

    assert_refused(response, 403)
    assert Post.objects.live().filter(id=post_id, body="hello").exists()


@pytest.mark.parametrize("method", ["get", "delete"])
@pytest.mark.parametrize("post_id", [0, 99, 2**63 - 1, 2**63, 10**19, "x"])
def test_an_unknown_post_is_not_found(author, post_id, method):
    assert_refused(getattr(author, method)(f"/v1/posts/{post_id}/"), 404)
