"""Who may read whose posts: each route, under both policies, and whatever a block ends."""

import json

import pytest
from django.core.cache import caches
from django.core.checks import run_checks

from accounts.blocks import block
from config import settings as configured
from feed import friendships
from feed.delivery import deliver_pending
from feed.exports import services as exports
from feed.models import Like, Post
from feed.services import publish_post
from feed.timeline_stores import get_timeline_store
from feed.visibility import POLICIES
from tests.backends import STORES
from tests.conftest import client_of, make_people, whole_timelines

LISTINGS = pytest.mark.parametrize("listing", configured.FEED_LISTINGS)
OWNER, FRIEND, STRANGER, BLOCKED, BLOCKER = 1, 2, 3, 4, 5
SEES = {
    "everyone": {OWNER, FRIEND, STRANGER},
    "friends": {OWNER, FRIEND},
}


@pytest.fixture(params=[*POLICIES, "everyone with replicas", "friends with replicas"])
def policy(request, settings):
    settings.FEED_VISIBILITY, *replicas = request.param.split(" with ")
    settings.REPLICAS = replicas  # the names only: reads still go to the primary
    caches["listing"].clear()
    return settings.FEED_VISIBILITY


@pytest.fixture
def post(policy, db):
    make_people(5, [(OWNER, FRIEND)])
    block(OWNER, BLOCKED)
    block(BLOCKER, OWNER)
    return publish_post(author_id=OWNER, body="text").post


def sees(policy, viewer):
    return viewer in SEES[policy]


def every_viewer(policy):
    return [(client_of(n), sees(policy, n)) for n in (OWNER, FRIEND, STRANGER, BLOCKED, BLOCKER)]


@LISTINGS
def test_the_listing_shows_what_one_may_read(listing, policy, post, settings):
    settings.FEED_LISTING = listing

    for client, may_read in 2 * every_viewer(policy):
        shown = [it["id"] for it in client.get("/v1/posts/").json()["posts"]]
        assert shown == ([post.id] if may_read else [])


@LISTINGS
def test_a_post_is_read_and_liked_by_whoever_may_read_it(listing, policy, post, settings):
    settings.FEED_LISTING = listing
    url = f"/v1/posts/{post.id}/"

    for client, may_read in every_viewer(policy):
        assert client.get(url).status_code == (200 if may_read else 404)
        for method in (client.put, client.delete, client.put):
            assert method(f"{url}like/").status_code == (204 if may_read else 404)
    assert Like.objects.count() == len(SEES[policy])


def test_who_may_not_read_a_post_does_not_learn_that_it_exists(policy, post):
    for client, may_read in every_viewer(policy)[1:]:
        answer = client.delete(f"/v1/posts/{post.id}/")
        assert answer.status_code == (403 if may_read else 404)


def test_a_persons_posts_are_shown_to_whoever_may_read_them(policy, post):
    answers = [client.get("/v1/people/1/posts/") for client, _ in every_viewer(policy)]

    assert [it.status_code for it in answers] == [200, 200, 200, 404, 404]
    assert [len(it.json().get("posts", [])) for it in answers] == [
        1,
        1,
        int(sees(policy, STRANGER)),
        0,
        0,
    ]


def test_an_unknown_policy_is_refused(settings):
    settings.FEED_VISIBILITY = "nobody"

    assert "feed.E005" in [found.id for found in run_checks()]


@pytest.fixture(params=STORES)
def store(request, settings, redis, friends, tmp_path):
    settings.FEED_TIMELINE_STORE, settings.FEED_LISTING = request.param, "cached"
    settings.FEED_STRATEGY = "outbox"
    settings.EXPORT_DIR = tmp_path
    caches["listing"].clear()
    whole_timelines()
    return get_timeline_store()


def pages(reader, author, post_ids):
    """Every page that may show an author's posts, as texts."""
    client = client_of(reader)
    paths = [
        "/v1/feed/",
        "/v1/posts/",
        "/v1/posts/?page=1",
        "/v1/me/report/",
        f"/v1/people/{author}/posts/",
        *(f"/v1/posts/{post_id}/" for post_id in post_ids),
    ]
    found = [client.get(path).text for path in paths]
    export = client.get("/v1/me/export/")
    return [*found, b"".join(export.streaming_content).decode()]


def ordered_export(reader):
    job = client_of(reader).post("/v1/me/exports/", {}, format="json").json()
    exports.make_next_export()
    return f"/v1/me/exports/{job['id']}/file/"


def test_after_a_block_no_page_shows_the_others_posts(store):
    texts = {author: f"written by {author}" for author in (1, 2)}
    ids = {author: publish_post(author_id=author, body=texts[author]).post.id for author in (1, 2)}
    deliver_pending(100)
    files = [(n, ordered_export(n)) for n in (1, 2)]
    for reader, author in ((1, 2), (2, 1)):
        shown = [texts[author] in page for page in pages(reader, author, [ids[author]])]
        assert shown == [True, True, True, False, True, True, True]

    assert client_of(1).put("/v1/me/blocks/2/").status_code == 204

    for reader, author in ((1, 2), (2, 1)):
        assert not any(texts[author] in page for page in pages(reader, author, [ids[author]]))
        assert f'"author":{author}' not in client_of(reader).get("/v1/me/report/").text
    assert [client_of(n).get(file).status_code for n, file in files] == [404, 404]
    later = publish_post(author_id=1, body="written later").post
    deliver_pending(100)
    assert not any("written later" in page for page in pages(2, 1, [later.id]))
    assert "written later" in pages(3, 1, [later.id])[0]


def test_an_export_that_is_being_made_during_a_block_is_not_kept(store, monkeypatch):
    publish_post(author_id=2, body="written by 2")
    deliver_pending(100)
    job = client_of(1).post("/v1/me/exports/", {}, format="json").json()
    write = exports._write_file

    def too_late(job):
        friendships.block(2, 1)
        write(job)

    monkeypatch.setattr(exports, "_write_file", too_late)
    exports.make_next_export()

    assert client_of(1).get(f"/v1/me/exports/{job['id']}/").status_code == 404
    assert list(exports.settings.EXPORT_DIR.glob("*.csv")) == []


def test_a_block_that_is_repeated_finishes_what_a_dead_process_left(store):
    posts = [publish_post(author_id=2, body="text").post for _ in range(2)]
    deliver_pending(100)
    client = client_of(1)
    assert len(client.get("/v1/feed/").json()["posts"]) == 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(friendships, "_finish_between", lambda *pair: None)  # it dies before
        friendships.block(1, 2)
    friendships.block(1, 2)

    assert client.get("/v1/feed/").json()["posts"] == []
    assert Post.objects.live().count() == len(posts)


def test_a_feed_whose_newest_posts_are_all_hidden_is_read_in_few_steps(
    db, settings, django_assert_max_num_queries
):
    settings.FEED_TIMELINE_STORE, settings.FEED_STRATEGY = "setbased", "outbox"
    make_people(2, [(1, 2)])
    kept = publish_post(author_id=1, body="kept").post
    Post.objects.bulk_create(
        Post(author_id=2, body="", deleted_at=kept.created_at) for _ in "x" * 900
    )
    get_timeline_store().deliver(list(Post.objects.all()))
    client = client_of(1)

    with django_assert_max_num_queries(20):
        answer = client.get("/v1/feed/")

    assert [post["id"] for post in json.loads(answer.content)["posts"]] == [kept.id]
