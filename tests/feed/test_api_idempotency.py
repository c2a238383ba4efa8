"""The Idempotency-Key header: a repeated request creates one post."""

from functools import partial

import pytest

from feed.models import IdempotencyKey, Post
from tests.conftest import assert_refused, client_of, whole_timelines
from tests.parallel import in_parallel


def publish(client, key, body="hello"):
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post("/v1/posts/", {"body": body}, format="json", headers=headers)


def test_a_repeated_request_answers_the_first_post_again(author):
    first = publish(author, "key")
    assert "Idempotent-Replayed" not in first

    again = publish(author, "key")

    assert again.status_code == 201
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert Post.objects.count() == 1


def test_a_key_used_for_another_body_is_refused_and_still_answers_its_own(author):
    first = publish(author, "key", "hello")

    assert_refused(publish(author, "key", "goodbye"), 422)
    assert publish(author, "key", "hello").json() == first.json()
    assert list(Post.objects.values_list("body", flat=True)) == ["hello"]


def test_a_request_that_was_refused_does_not_use_up_its_key(author):
    assert_refused(publish(author, "key", ""), 400)

    response = publish(author, "key")

    assert response.status_code == 201
    assert "Idempotent-Replayed" not in response


def test_identical_keys_of_two_people_are_independent(author):
    publish(author, "key", "hello")

    response = publish(client_of(2), "key", "goodbye")

    assert response.status_code == 201
    assert (response.json()["author"], response.json()["body"]) == (2, "goodbye")
    assert "Idempotent-Replayed" not in response


@pytest.mark.parametrize("other", ["KEY", "Key", "key.", "key0"])
def test_similar_keys_are_different_keys(author, other):
    first = publish(author, "key").json()

    assert publish(author, other).json()["id"] != first["id"]


@pytest.mark.parametrize("key", ["k", "!", "~" * 255, "%00'\";--", "a,b", '"quoted"'])
def test_any_printable_ascii_is_a_key(author, key):
    first = publish(author, key)

    assert first.status_code == 201
    assert publish(author, key).json() == first.json()


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="empty"),
        pytest.param(" ", id="a space"),
        pytest.param("a b", id="a space within"),
        pytest.param("a\tb", id="a tab within"),
        pytest.param("k" * 256, id="256 characters"),
        pytest.param("k" * 8000, id="8000 characters"),
        pytest.param("é", id="Latin-1"),
        pytest.param("\xa0key", id="no-break space before"),
        pytest.param("key\x85", id="next line after"),
        pytest.param("key\x1f", id="control character after"),
        pytest.param("key\x7f", id="delete after"),
        pytest.param("鍵".encode().decode("latin-1"), id="UTF-8"),
    ],
)
def test_a_malformed_key_is_refused(author, key):
    assert_refused(publish(author, key), 400)
    assert not Post.objects.exists()
    assert not IdempotencyKey.objects.exists()


def test_a_key_whose_post_was_deleted_is_not_found(author):
    post_id = publish(author, "key").json()["id"]
    author.delete(f"/v1/posts/{post_id}/")

    assert_refused(publish(author, "key"), 404)
    assert not Post.objects.live().exists()


@pytest.mark.parametrize("timeline", ["setbased", "packed"])
@pytest.mark.django_db(transaction=True)
def test_parallel_requests_with_one_key_create_one_post(author, settings, timeline):
    settings.FEED_TIMELINE_STORE = timeline
    whole_timelines()
    clients = [client_of(1) for _ in range(50)]

    def request(client):
        response = publish(client, "key")
        return response.status_code, response.json()["id"], "Idempotent-Replayed" in response

    answers = in_parallel([partial(request, client) for client in clients])

    post = Post.objects.get()
    assert {answer[:2] for answer in answers} == {(201, post.id)}
    assert sorted(replayed for _, _, replayed in answers) == [False] + [True] * 49
    assert len(client_of(2).get("/v1/feed/").json()["posts"]) == 1
