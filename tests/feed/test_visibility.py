"""Whatever a block ends (tests/web/test_access.py has each route, under both policies)."""

import pytest

from feed import follows
from feed.delivery import deliver_pending
from feed.models import Post
from feed.services import publish_post
from tests.backends import STORES, here
from tests.conftest import client_of, whole_timelines


@pytest.fixture(params=here(STORES))
def store(request, settings, redis, friends):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", request.param
    return whole_timelines()


def pages(reader, author, post_ids):
    """Every page that may show an author's posts, as texts."""
    client = client_of(reader)
    paths = [
        "/v1/feed/",
        f"/v1/people/{author}/posts/",
        *(f"/v1/posts/{post_id}/" for post_id in post_ids),
    ]
    return [client.get(path).text for path in paths]


def test_after_a_block_no_page_shows_the_others_posts(store):
    texts = {author: f"written by {author}" for author in (1, 2)}
    ids = {author: publish_post(author_id=author, body=texts[author]).post.id for author in (1, 2)}
    deliver_pending(100)
    for reader, author in ((1, 2), (2, 1)):
        shown = [texts[author] in page for page in pages(reader, author, [ids[author]])]
        assert shown == [True, True, True]

    assert client_of(1).put("/v1/me/blocks/2/").status_code == 204

    for reader, author in ((1, 2), (2, 1)):
        assert not any(texts[author] in page for page in pages(reader, author, [ids[author]]))
    later = publish_post(author_id=1, body="written later").post
    deliver_pending(100)
    assert not any("written later" in page for page in pages(2, 1, [later.id]))
    assert "written later" in pages(3, 1, [later.id])[0]


def test_a_block_that_is_repeated_finishes_what_a_dead_process_left(store):
    posts = [publish_post(author_id=2, body="text").post for _ in range(2)]
    deliver_pending(100)
    client = client_of(1)
    assert len(client.get("/v1/feed/").json()["posts"]) == 2

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(follows, "_finish_between", lambda *pair: None)  # it dies before
        follows.block(1, 2)
    follows.block(1, 2)

    assert client.get("/v1/feed/").json()["posts"] == []
    assert Post.objects.live().count() == len(posts)
