"""Deactivated and deleted people leave nothing in the tables and files of replays.

The tests of the service run once more, with rows of a person in these tables too.
"""

import time

import pytest
from django.core.cache import caches

from feed import people
from feed.models import Post
from feed.services import publish_post
from replays.activity.app.models import Card, Direction, IndexedLog, IndexedTag, PlainLog, PlainTag
from replays.browse.app.likes import like_post, miscounted_posts
from replays.browse.app.models import Like
from replays.export.app import services as exports
from tests.conftest import client_of
from tests.feed import test_people as service
from tests.feed.test_people import at_once, test_no_table_names_a_deleted_person

__all__ = ["at_once", "test_no_table_names_a_deleted_person"]
fill, is_consistent = service.fill, service.is_consistent


@pytest.fixture(autouse=True)
def all_tables(monkeypatch, settings, tmp_path):
    """Let the service's tests fill the tables of replays, and look at them."""
    settings.EXPORT_DIR = tmp_path
    monkeypatch.setattr(service, "fill", fill_all)
    monkeypatch.setattr(service, "is_consistent", are_consistent)
    return tmp_path


def fill_all(person_id=1):
    Card.objects.all().delete()
    fill(person_id)
    for log in (PlainLog, IndexedLog):
        log.objects.create(person_id=person_id, at=1, device=1, direction=Direction.IN)
    Card.objects.create(number="c1", person_id=person_id)
    for tag in (PlainTag, IndexedTag):
        tag.objects.create(card="c1", at=service.NOW, device=1)
    exports.order_export(person_id=person_id, file_format="csv")
    exports.make_next_export()
    for post in Post.objects.live():
        for liker in (1, 2, 3):
            like_post(person_id=liker, post_id=post.id)


def are_consistent():
    return is_consistent() and not miscounted_posts()


def test_a_deleted_person_leaves_no_tags_and_no_files(db, all_tables):
    service.make_people(7, [(1, 2), (1, 3)])
    fill_all()
    assert list(all_tables.iterdir())
    Card.objects.create(number="c2", person_id=2)
    IndexedTag.objects.create(card="c2", at=service.NOW, device=1)

    people.delete(1)

    assert not PlainTag.objects.exists()
    assert [tag.card for tag in IndexedTag.objects.all()] == ["c2"]
    assert not list(all_tables.iterdir())


def test_likes_of_a_deleted_person_no_longer_count(friends):
    post = publish_post(author_id=2, body="theirs").post
    for person_id in (1, 3):
        like_post(person_id=person_id, post_id=post.id)

    people.delete(1)

    assert (Post.objects.get(id=post.id).like_count, miscounted_posts()) == (1, 0)


@pytest.mark.parametrize("change", [people.deactivate, people.delete], ids=["deactivate", "delete"])
def test_likes_while_tokens_were_still_trusted_are_removed_later(change, friends):
    post = publish_post(author_id=2, body="theirs").post
    change(1)
    like_post(person_id=1, post_id=post.id)

    time.sleep(0.002)  # the change is older than 0 s
    people.finish_changes()

    assert Like.objects.exists() == (change is people.deactivate)
    assert miscounted_posts() == 0


def test_many_likes_go_in_batches(friends, monkeypatch):
    monkeypatch.setattr("replays.browse.app.likes.MOST_UNLIKED", 2)
    for _ in range(5):
        like_post(person_id=1, post_id=Post.objects.create(author_id=2, body="text").id)

    people.delete(1)

    assert set(Post.objects.values_list("like_count", flat=True)) == {0}


def test_a_deactivated_person_is_in_no_cached_listing_and_cannot_be_liked(friends, settings):
    settings.FEED_LISTING = "cached"
    caches["listing"].clear()
    post, reader = publish_post(author_id=1, body="text").post, client_of(2)
    assert reader.get("/v1/posts/").json()["posts"]

    people.deactivate(1)

    assert reader.get("/v1/posts/").json()["posts"] == []
    assert reader.put(f"/v1/posts/{post.id}/like/").status_code == 404
    caches["listing"].clear()
    people.reactivate(1)
    assert len(reader.get("/v1/posts/").json()["posts"]) == 1


def test_exports_of_friends_do_not_outlive_a_deactivation(friends, all_tables):
    for person_id in (1, 2, 4):
        exports.order_export(person_id=person_id, file_format="csv")
        exports.make_next_export()

    people.deactivate(2)

    kept = {job.person_id for job in exports.ExportJob.objects.all()}
    assert (kept, len(list(all_tables.iterdir()))) == ({2, 4}, 2)
