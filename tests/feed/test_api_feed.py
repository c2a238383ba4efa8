"""Reading feeds and people's posts page by page; tests of stores read from each of them."""

from itertools import chain

import pytest
from django.db.models.functions import Now

from feed.models import Post
from tests.conftest import client_of, whole_timelines

PATHS = pytest.mark.parametrize("path", ["/v1/feed/", "/v1/people/1/posts/"])


def publish(client, count=1):
    """Write posts and return their ids, newest first."""
    posts = [
        client.post("/v1/posts/", {"body": f"number {n}"}, format="json").json()
        for n in range(count)
    ]
    return [post["id"] for post in reversed(posts)]


def walk(client, url):
    """Follow ``next`` from a page to the end and return the post ids of each page."""
    pages = []
    while url is not None:
        response = client.get(url)
        assert response.status_code == 200
        page = response.json()
        pages.append([post["id"] for post in page["posts"]])
        url = page["next"]
    return pages


def test_a_feed_answers_whole_posts(author):
    created = author.post("/v1/posts/", {"body": "hello"}, format="json").json()

    assert client_of(2).get("/v1/feed/").json() == {"posts": [created], "next": None}


@PATHS
@pytest.mark.parametrize(("posts", "pages"), [(5, [2, 2, 1]), (4, [2, 2]), (1, [1]), (0, [0])])
def test_following_next_returns_every_post_once(path, author, posts, pages):
    ids = publish(author, posts)

    visited = walk(author, f"{path}?limit=2")

    assert list(chain(*visited)) == ids
    assert [len(page) for page in visited] == pages


@PATHS
def test_pages_stay_full_where_posts_were_deleted(path, author):
    ids = publish(author, 12)
    kept = ids[::4] + ids[1:3]
    for post_id in set(ids) - set(kept):
        author.delete(f"/v1/posts/{post_id}/")

    visited = walk(author, f"{path}?limit=2")

    assert list(chain(*visited)) == sorted(kept, reverse=True)
    assert [len(page) for page in visited] == [2, 2, 1]


def test_a_page_looks_behind_some_hidden_posts_and_the_next_one_behind_more(
    author, settings, django_assert_max_num_queries
):
    settings.FEED_TIMELINE_STORE = "pull"  # it needs no deliveries
    whole_timelines()
    kept = publish(author, 2)
    hidden = [Post(author_id=2, body="", deleted_at=Now()) for _ in range(3_000)]
    Post.objects.bulk_create(hidden)
    kept = publish(author, 1) + kept

    with django_assert_max_num_queries(20):
        first = author.get("/v1/feed/").json()
    visited = walk(author, "/v1/feed/?limit=2")

    assert [post["id"] for post in first["posts"]] == kept[:1]
    assert [page for page in visited if page] == [kept[:1], kept[1:]]
    assert len(visited) < 5


@PATHS
def test_new_posts_do_not_shift_the_next_page(author, path):
    ids = publish(author, 4)
    first = author.get(f"{path}?limit=2").json()

    publish(author, 3)

    assert walk(author, first["next"]) == [ids[2:]]


@PATHS
@pytest.mark.parametrize(
    ("query", "length"), [("", 20), ("?limit=1", 1), ("?limit=100", 100)], ids=str
)
def test_a_page_has_the_requested_length(author, settings, path, query, length):
    settings.FEED_TIMELINE_STORE = "pull"  # it needs no deliveries
    whole_timelines()
    Post.objects.bulk_create(Post(author_id=1, body="x") for _ in range(101))

    assert len(author.get(f"{path}{query}").json()["posts"]) == length


def test_next_keeps_the_other_parameters(author):
    publish(author, 2)

    following = author.get("/v1/feed/?limit=1&x=%ff&y=[").json()["next"]

    assert "limit=1" in following
    assert walk(author, following) == [[Post.objects.earliest("id").id]]


@PATHS
def test_before_may_be_any_id(path, author):
    older = publish(author, 2)
    (strangers,) = publish(client_of(4))
    newer = publish(author, 2)

    assert walk(author, f"{path}?before={strangers}") == [older]
    assert walk(author, f"{path}?before={2**63 - 1}") == [newer + older]
    assert walk(author, f"{path}?before=1") == [[]]


@pytest.mark.parametrize("person", [0, 99, 2**63 - 1, 2**63, 10**19, "x"])
def test_an_unknown_person_is_not_found(author, person):
    response = author.get(f"/v1/people/{person}/posts/")

    assert response.status_code == 404
    assert response.json() == {"detail": "Not found."}
