"""Who may read and like whose posts in the listing, under both policies."""

import pytest
from django.core.cache import caches
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection

from accounts.blocks import block
from feed import follows
from feed.services import publish_post
from feed.visibility import POLICIES
from replays.browse import settings as configured
from tests.conftest import client_of, make_people

OWNER, FRIEND, STRANGER, BLOCKED, BLOCKER = 1, 2, 3, 4, 5
SEES = {
    "everyone": {OWNER, FRIEND, STRANGER},
    "friends": {OWNER, FRIEND},
}
LISTINGS = pytest.mark.parametrize("listing", configured.FEED_LISTINGS)


@pytest.fixture(params=[*POLICIES, "everyone with replicas", "friends with replicas"])
def policy(request, settings):
    settings.FEED_VISIBILITY, *replicas = request.param.split(" with ")
    settings.REPLICAS = replicas  # the names only
    reading = "replays.browse.app.replicas._choose"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, lambda after: "default")  # reads still go to the primary
        caches["listing"].clear()
        yield settings.FEED_VISIBILITY


@LISTINGS
def test_the_listing_shows_what_one_may_read(listing, policy, db, settings):
    settings.FEED_LISTING = listing
    make_people(5, [(OWNER, FRIEND)])
    block(OWNER, BLOCKED)
    block(BLOCKER, OWNER)
    post = publish_post(author_id=OWNER, body="text").post

    for viewer in 2 * [OWNER, FRIEND, STRANGER, BLOCKED, BLOCKER]:
        shown = [post["id"] for post in client_of(viewer).get("/v1/posts/").json()["posts"]]
        assert shown == ([post.id] if viewer in SEES[policy] else [])


@pytest.mark.parametrize("query", ["", "?page=1"])
def test_after_a_block_no_cached_page_shows_the_others_posts(query, friends, settings):
    settings.FEED_LISTING = "cached"
    caches["listing"].clear()
    for author in (1, 2):
        publish_post(author_id=author, body=f"written by {author}")
    for reader, author in ((1, 2), (2, 1)):
        assert f"written by {author}" in client_of(reader).get(f"/v1/posts/{query}").text

    follows.block(1, 2)

    for reader, author in ((1, 2), (2, 1)):
        assert f"written by {author}" not in client_of(reader).get(f"/v1/posts/{query}").text
    assert "written by 1" in client_of(3).get(f"/v1/posts/{query}").text


def test_an_unknown_listing_is_refused_with_the_known_ones(settings):
    settings.FEED_LISTING = "random"

    with pytest.raises(ImproperlyConfigured, match="aggregate, cached, counter, keyset"):
        call_command("check")


def test_replicas_of_a_server_without_positions_are_refused(settings, db):
    settings.REPLICAS = ["replica1"]

    found = [message.id for message in run_checks(databases=["default"])]

    has_positions = connection.vendor == "postgresql" or getattr(connection, "mysql_is_mariadb", 0)
    assert ("browse.E001" in found) != has_positions
