"""Likes over HTTP, and every listing by them."""

import threading
from collections import Counter
from functools import partial
from urllib.parse import urlsplit

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Person
from feed.models import Post
from feed.services import delete_post
from feed.visibility import POLICIES, visible
from replays.browse import settings as configured
from replays.browse.app.likes import like_post, miscounted_posts, unlike_post
from replays.browse.app.models import Like
from tests.conftest import client_of, make_people
from tests.parallel import in_parallel

LISTINGS = pytest.mark.parametrize("listing", configured.FEED_LISTINGS)


@pytest.fixture
def posts(author):
    """Three posts of person 1; persons 1 to 4 exist."""
    return [
        author.post("/v1/posts/", {"body": f"post {n}"}, format="json").json() for n in range(3)
    ]


def likes_of(client, post):
    return client.get(f"/v1/posts/{post['id']}/").json()["likes"]


@LISTINGS
def test_a_like_counts_once_however_often_it_is_given_or_taken_back(listing, posts, settings):
    settings.FEED_LISTING = listing
    fan, url = client_of(2), f"/v1/posts/{posts[0]['id']}/like/"

    for method, likes in (("put", 1), ("put", 1), ("delete", 0), ("delete", 0), ("put", 1)):
        assert getattr(fan, method)(url).status_code == 204
        assert likes_of(fan, posts[0]) == likes

    assert miscounted_posts() == 0


@pytest.mark.parametrize("method", ["put", "delete"])
def test_liking_an_unknown_post_is_not_found(method, author, posts):
    author.delete(f"/v1/posts/{posts[0]['id']}/")

    for post_id in (posts[0]["id"], 99_999, 2**63 - 1, 2**63):
        assert getattr(author, method)(f"/v1/posts/{post_id}/like/").status_code == 404


def test_a_person_without_an_account_cannot_like(posts, transactional_db):
    nobody = client_of(99)

    assert nobody.put(f"/v1/posts/{posts[0]['id']}/like/").status_code == 401
    assert likes_of(nobody, posts[0]) == 0


def test_concurrent_likes_are_all_counted(transactional_db):
    make_people(8)
    post = Post.objects.create(author_id=1, body="x")

    in_parallel([partial(like_post, person_id=n, post_id=post.id) for n in range(1, 9)])

    post.refresh_from_db()
    assert post.like_count == Like.objects.count() == 8


def test_a_wrong_count_is_found(posts, capsys):
    Post.objects.filter(id=posts[0]["id"]).update(like_count=3)

    call_command("audit_likes")

    assert capsys.readouterr().out == "1\n"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *((f"page={value}", "page") for value in ("0", "-1", "x", "1.5", "", "%00", "9" * 30)),
        *((f"size={value}", "size") for value in ("0", "101", "x", "")),
        *((f"after={value}", "after") for value in ("", "1", "1-", "-1-1", "%D9%A1-1")),
        ("sort=likes", "sort"),
        ("sort=", "sort"),
    ],
)
def test_an_invalid_query_is_refused(author, query, field):
    response = author.get(f"/v1/posts/?{query}")

    assert (response.status_code, list(response.json())) == (400, [field])


def test_a_page_far_from_the_first_is_refused_and_the_way_on_named(author):
    response = author.get("/v1/posts/?page=1001")

    assert response.status_code == 400
    assert response.json() == {"page": ["Pages end at 1000; go on with `after`."]}


def test_behind_the_last_page_by_number_the_listing_goes_on_by_position(friends, settings):
    settings.FEED_LISTING = "counter"
    Post.objects.bulk_create(Post(author_id=1, body="x") for _ in range(1002))
    reader = client_of(1)

    last = reader.get("/v1/posts/?size=1&page=1000").json()
    beyond = reader.get(last["next"]).json()

    assert "after=" in last["next"]
    assert beyond["posts"][0]["id"] == Post.objects.order_by("-id")[1000].id


@LISTINGS
def test_an_empty_listing_and_a_page_beyond_the_end_are_empty(listing, posts, settings):
    settings.FEED_LISTING = listing
    reader = client_of(1)

    for query in ("page=2", "page=1000", "after=0-1", "size=100&page=1000"):
        assert reader.get(f"/v1/posts/?{query}").json() == {"posts": [], "next": None}


def walk(client, query):
    """Follow a listing to its end; return its (id, likes), and the query strings."""
    found, queries, url = [], [], f"/v1/posts/?{query}"
    while url:
        page = client.get(url).json()
        found += [(post["id"], post["likes"]) for post in page["posts"]]
        queries.append(urlsplit(url).query)
        url = page["next"]
    return found, queries


GIVEN = st.lists(
    st.tuples(st.sampled_from(["like", "unlike", "delete"]), st.integers(0, 9), st.integers(1, 5)),
    max_size=40,
)


@LISTINGS
@given(given=GIVEN, size=st.integers(1, 12))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_listing_agrees_with_the_counted_likes(listing, given, size, db, settings):
    """After any likes, removals and deletions, for any way to walk the pages."""
    settings.FEED_LISTING = listing
    Post.objects.all().delete()
    caches["listing"].clear()
    if not Person.objects.exists():
        make_people(5)
    ids = [Post.objects.create(author_id=1, body="x").id for _ in range(10)]
    likes, deleted = Counter(), set()
    for what, nth, person_id in given:
        apply(what, ids[nth], person_id, likes, deleted)

    count = Counter(post_id for post_id, _ in likes)
    expected = sorted(
        ((post_id, count[post_id]) for post_id in ids if post_id not in deleted),
        key=lambda pair: (-pair[1], -pair[0]),
    )
    reader = client_of(1)
    assert walk(reader, f"size={size}")[0] == expected
    assert walk(reader, f"size={size}&page=1")[0] == expected
    assert walk(reader, f"size={size}&page=2&after=999-1")[0] == expected[size:]
    assert miscounted_posts() == 0


def apply(what, post_id, person_id, likes, deleted):
    """Apply a change, and record the expected state."""
    if post_id in deleted:
        return
    if what == "like":
        like_post(person_id=person_id, post_id=post_id)
        likes[post_id, person_id] = 1
    elif what == "unlike":
        unlike_post(person_id=person_id, post_id=post_id)
        likes.pop((post_id, person_id), None)
    else:
        delete_post(person_id=1, post_id=post_id)
        deleted.add(post_id)


@pytest.mark.parametrize(
    ("listing", "queries"),
    [
        ("counter", ["size=1", "page=2&size=1", "page=3&size=1"]),
        ("keyset", ["size=1", "after=0-{}&size=1", "after=0-{}&size=1"]),
    ],
)
def test_the_listing_links_to_the_next_page(listing, queries, posts, settings):
    settings.FEED_LISTING = listing

    _, links = walk(client_of(1), "size=1")

    newest_first = [post["id"] for post in posts[::-1]]
    wanted = [
        query.format(newest) for query, newest in zip(queries, [0, *newest_first[:2]], strict=True)
    ]
    assert ["&".join(sorted(query.split("&"))) for query in links] == wanted


def test_a_cached_page_is_short_lived_and_not_shown_after_ones_own_writes(posts, settings):
    settings.FEED_LISTING = "cached"
    settings.FEED_LISTINGS = settings.FEED_LISTINGS | {
        "cached": {"BACKEND": "replays.browse.app.listings.Cached", "OPTIONS": {"keep_s": 0.3}}
    }
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "replays.browse.app.replicas.note_writes"]
    caches["listing"].clear()
    reader, writer = client_of(2), client_of(1)
    before = reader.get("/v1/posts/").json()

    writer.put(f"/v1/posts/{posts[0]['id']}/like/")

    assert reader.get("/v1/posts/").json() == before
    assert writer.get("/v1/posts/").json()["posts"][0]["likes"] == 1
    threading.Event().wait(0.35)
    assert reader.get("/v1/posts/").json()["posts"][0]["likes"] == 1


@pytest.mark.parametrize("cookie", ["unknown", "unknown:forged"])
def test_a_cookie_that_is_not_ours_gets_the_cached_page(cookie, posts, settings):
    settings.FEED_LISTING = "cached"
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "replays.browse.app.replicas.note_writes"]
    caches["listing"].clear()
    reader = client_of(2)
    before = reader.get("/v1/posts/").json()
    client_of(1).put(f"/v1/posts/{posts[0]['id']}/like/")

    reader.cookies["written"] = cookie

    assert reader.get("/v1/posts/").json() == before


def test_a_cached_page_never_shows_a_deleted_post(posts, settings):
    settings.FEED_LISTING = "cached"
    caches["listing"].clear()
    reader = client_of(2)
    reader.get("/v1/posts/")

    client_of(1).delete(f"/v1/posts/{posts[0]['id']}/")

    shown = [post["id"] for post in reader.get("/v1/posts/").json()["posts"]]
    assert shown == [posts[2]["id"], posts[1]["id"]]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_page_of_the_counter_reads_no_more_than_it_shows(policy, settings, db):
    """The index has the order: no sort, and no scan of all posts."""
    settings.FEED_LISTING, settings.FEED_VISIBILITY = "keyset", policy
    make_people(2)
    call_command("seed_likes", "--posts=300", "--likes=400")
    posts = visible(Post.objects.live(), 2)
    explain = posts.order_by("-like_count", "-id")[:10].explain()

    assert "post_by_likes" in explain
    assert "filesort" not in explain
    assert "TEMP B-TREE" not in explain


def test_the_seed_has_the_requested_posts_and_likes(friends):
    call_command("seed_likes", "--posts=1000", "--likes=2000")

    assert (Post.objects.count(), Like.objects.count()) == (1000, 2000)
    assert not Post.objects.pending().exists()
    assert miscounted_posts() == 0
    assert 2 < Post.objects.order_by("-like_count").first().like_count <= 4


@pytest.mark.parametrize(("listing", "kept"), [("counter", True), ("aggregate", False)])
def test_a_listing_that_counts_likes_has_no_index_of_counts(
    listing, kept, settings, transactional_db
):
    settings.FEED_LISTING = listing
    make_people(2)
    call_command("seed_likes", "--posts=30", "--likes=40", "--as-published")

    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "feed_post")
    if not kept:
        (index,) = (index for index in Post._meta.indexes if index.name == "post_by_likes")
        with connection.schema_editor() as editor:
            editor.add_index(Post, index)
    assert ("post_by_likes" in found) is kept


@pytest.mark.parametrize("likes", ["5", "-1"])
def test_an_impossible_seed_is_refused(likes, friends):
    with pytest.raises(CommandError, match="can't give"):
        call_command("seed_likes", "--posts=1", f"--likes={likes}")


def test_likes_are_not_seeded_if_there_are_posts(posts):
    with pytest.raises(CommandError, match="posts already"):
        call_command("seed_likes")
