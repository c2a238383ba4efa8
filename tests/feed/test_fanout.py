"""Every strategy with every store, through the services."""

from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db.models.functions import Now

from feed.delivery import deliver_pending
from feed.fanout import get_fanout
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import delete_post, publish_post
from feed.timelines import get_timeline
from tests.feed.conftest import REDIS_STORES

SQL = ["rowwise", "bulk", "setbased", "pull"]
STORES = [*SQL, "memory", *REDIS_STORES]
SHARED = [store for store in STORES if store != "memory"]
PAIRS = [("inline", store) for store in STORES] + [("outbox", store) for store in SHARED]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request, settings, transactional_db, friends, redis):
    settings.FEED_FANOUT, settings.FEED_TIMELINE = request.param
    return request.param


def drain():
    while deliver_pending(limit=100):
        pass


def bodies(owner_id):
    page = read_timeline(owner_id=owner_id, before=None, limit=20)
    return [post.body for post in page.posts]


def test_a_post_reaches_every_friend_and_gets_its_receipt(pair):
    published = publish_post(author_id=1, body="hello").post

    drain()

    assert [bodies(owner) for owner in (1, 2, 3, 4)] == [["hello"], ["hello"], ["hello"], []]
    assert Post.objects.get(id=published.id).delivered_at is not None


def test_only_the_outbox_leaves_a_backlog(pair):
    publish_post(author_id=1, body="hello")

    assert Post.objects.pending().exists() == (pair[0] == "outbox")


def test_a_post_deleted_before_its_delivery_never_shows(pair):
    post = publish_post(author_id=1, body="hello").post
    delete_post(person_id=1, post_id=post.id)

    drain()

    assert bodies(2) == []
    assert not Post.objects.pending().exists()


def test_the_null_strategy_never_delivers(settings, transactional_db, friends):
    settings.FEED_FANOUT = "null"

    publish_post(author_id=1, body="hello")

    assert get_timeline().members(2) == []
    assert Post.objects.pending().count() == 1


class Failing(Exception):
    pass


@pytest.mark.parametrize(("store", "accepted"), [("setbased", False), ("memory", True)])
def test_a_store_that_fails_refuses_the_post_only_where_it_shares_the_transaction(
    store, accepted, settings, transactional_db, friends, monkeypatch
):
    settings.FEED_FANOUT, settings.FEED_TIMELINE = "inline", store
    timeline = get_timeline()

    def fail(posts):
        raise Failing

    with monkeypatch.context() as broken:
        broken.setattr(timeline, "deliver", fail)
        if accepted:
            publish_post(author_id=1, body="hello")
        else:
            with pytest.raises(Failing):
                publish_post(author_id=1, body="hello")

    assert Post.objects.pending().count() == int(accepted)
    assert deliver_pending(limit=100) == 0  # the request might still be at it
    Post.objects.update(created_at=Now() - timedelta(minutes=1))
    drain()
    assert bodies(2) == ["hello"] * int(accepted)


@pytest.mark.parametrize("setting", ["FEED_FANOUT", "FEED_TIMELINE"])
def test_a_bad_name_is_refused_with_the_good_ones(setting, settings):
    setattr(settings, setting, "nonsense")

    with pytest.raises(ImproperlyConfigured, match=r"'nonsense'.* one of: .*(inline|setbased)"):
        get_fanout() if setting == "FEED_FANOUT" else get_timeline()


def test_the_check_refuses_to_deliver_elsewhere_into_a_store_that_nobody_sees(settings):
    settings.FEED_FANOUT, settings.FEED_TIMELINE = "outbox", "memory"

    with pytest.raises(SystemCheckError, match=r"feed\.E001"):
        call_command("check")


@pytest.mark.parametrize("choice", PAIRS, ids="-".join)
def test_the_check_passes_every_pair_that_works(choice, settings, redis):
    settings.FEED_FANOUT, settings.FEED_TIMELINE = choice

    call_command("check")
