"""Deactivated and deleted people: nothing of them shows, whoever dies in between."""

import time
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection

from accounts import services as accounts
from accounts.blocks import block
from accounts.follows import ask
from accounts.models import Follow, Membership, Person, Profile, Session
from config.cache import post_cache
from feed import people, services
from feed.delivery import deliver_pending
from feed.models import (
    AuthorChange,
    CopiedEntry,
    FollowChange,
    IdempotencyKey,
    Post,
    Reader,
    TimelineFloor,
)
from feed.selectors import read_timeline, unfinished_changes
from feed.timeline_stores import get_timeline_store
from tests.backends import here, stores_with
from tests.conftest import client_of, make_people, whole_timelines
from tests.feed.deliveries import audited

NOW = "2026-11-01T00:00:00Z"


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(people, "LATE_S", 0)
    monkeypatch.setattr("feed.follows.LEFT_BEHIND_S", 0)
    monkeypatch.setattr("feed.delivery.LOOK_AFTER_EVERY_S", 0)


@pytest.fixture(params=here(stores_with(is_computed_on_read=False, is_healing=True)))
def store(request, settings, friends, redis, redis_environment):
    """A store with a real cache of posts."""
    settings.CACHES = settings.CACHES | {"posts": post_cache(redis_environment["REDIS_URL"])}
    caches["posts"].clear()
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", request.param
    return whole_timelines()


def write(author_id, body="text"):
    post = services.publish_post(author_id=author_id, body=body, idempotency_key=body).post
    deliver_pending(100)
    return post


def drain():
    time.sleep(0.002)  # a change is older than 0 s
    deliver_pending(100)


def feed(owner_id):
    return list(read_timeline(owner_id=owner_id, before=None, limit=20).posts)


def shown(reader, author):
    """What a reader finds of an author: in their feed, and on the author's page."""
    client = client_of(reader)
    posts = client.get("/v1/feed/").json()["posts"]
    found = [it["id"] for it in posts if it["author"] == author]
    page = client.get(f"/v1/people/{author}/posts/")
    return found, page.status_code, [it["id"] for it in page.json().get("posts", [])]


HIDDEN = ([], 404, [])


def test_a_deactivated_person_disappears_and_comes_back_without_what_they_had_deleted(store):
    kept, deleted = write(1, "kept"), write(1, "deleted")
    services.delete_post(person_id=1, post_id=deleted.id)
    everything = ([kept.id], 200, [kept.id])
    assert shown(2, 1) == everything

    people.deactivate(1)

    assert shown(2, 1) == HIDDEN
    assert client_of(2).get(f"/v1/posts/{kept.id}/").status_code == 404
    edges = {"friends": "friends", "follows": "following"}[settings.FEED_EDGES]
    assert client_of(2).put(f"/v1/me/{edges}/1/").status_code == 404
    assert client_of(2).get(f"/v1/me/{edges}/").json()[edges] == [3]
    assert Post.objects.get(id=kept.id).body == "kept"
    drain()
    assert shown(2, 1) == HIDDEN

    people.reactivate(1)

    assert shown(2, 1) == everything
    drain()
    assert shown(2, 1) == everything
    assert not AuthorChange.objects.exists()


def test_a_deleted_person_leaves_nothing_but_empty_rows(store):
    mine, theirs = write(1, "mine"), write(2, "theirs")
    feed(1)

    people.delete(1)

    assert shown(2, 1) == HIDDEN
    assert feed(2) == feed(3) == [theirs.id]
    assert Post.objects.get(id=mine.id).body == ""
    assert store.read(1).ids == []
    assert audited(store).ok
    drain()
    assert audited(store).ok
    assert unfinished_changes() == 0


def test_a_deleted_person_leaves_no_text_in_copies(store):
    posts = [write(1, "mine"), write(1, "deleted before"), write(2, "theirs")]
    services.delete_post(person_id=1, post_id=posts[1].id)

    people.delete(1)

    assert texts(posts[:2]) == {""}
    assert texts(posts[2:]) == {"theirs"}


def texts(posts):
    """All texts of these posts that the database has."""
    of_posts = {"post__in": [post.id for post in posts]}
    found = set(Post.objects.filter(id__in=of_posts["post__in"]).values_list("body", flat=True))
    for copies in CopiedEntry.__subclasses__():
        found |= set(copies.objects.filter(**of_posts).values_list("body", flat=True))
    return found


def fill(person_id=1, others=(2, 3)):
    """Let there be a row of the person in every table."""
    for model in (Profile, Membership):
        more = {"group_id": 1} if model is Membership else {}
        model.objects.create(person_id=person_id, **more)
    Session.objects.create(person_id=person_id, refresh_id="x", expires_at=NOW)
    ask(person_id, 4)
    ask(5, person_id)
    block(person_id, 6)
    block(7, person_id)
    Reader.objects.create(person_id=person_id, read_on="2026-11-01")
    for author in (person_id, *others):
        post = Post.objects.create(author_id=author, body=f"of {author}")
    deliver_pending(100)
    IdempotencyKey.objects.create(author_id=person_id, key_sha256="k", body_sha256="b", post=post)


UNFILLED = {"RowwiseEntry", "BulkEntry"}
"""They are the timelines of stores, which are tested for each store."""

ONLY_IDS = {"Post.author_id", "Revocation.person_id", "TimelineFloor.owner_id"}
"""Columns that still name a deleted person: tombstones, and what keeps late writers out."""


def tables_of_people():
    """The tables with a foreign key to a person."""
    return {
        model
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.related_model is Person
    }


def references(person_id):
    """The tables that name a person by a foreign key, or by a column called like one."""
    found = set()
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            named = field.related_model is Person or field.name in ("person_id", "owner_id")
            if named and model.objects.filter(**{field.attname: person_id}).exists():
                found.add(f"{model.__name__}.{field.attname}")
    return found


def test_no_table_names_a_deleted_person(db, settings):
    settings.FEED_STRATEGY = "outbox"
    make_people(7, [(1, 2), (1, 3)])
    fill()
    named = {it.split(".")[0] for it in references(1)}
    assert {model.__name__ for model in tables_of_people()} - named == UNFILLED

    people.delete(1)
    drain()

    assert references(1) == ONLY_IDS
    gone = Person.objects.get(id=1)
    assert (gone.username, gone.is_active) == ("deleted:1", False)
    assert not gone.has_usable_password()


def is_consistent():
    return audited(get_timeline_store()).ok


class Died(BaseException):
    """The process ends."""


def die_at(statement):
    """Let the process die at its nth statement."""
    seen = iter(range(statement))

    def execute(run, *args):
        if next(seen, None) is None:
            raise Died
        return run(*args)

    return connection.execute_wrapper(execute)


@pytest.mark.parametrize("change", [people.deactivate, people.delete], ids=["deactivate", "delete"])
def test_what_a_dead_process_left_is_finished_by_a_drainer(change, transactional_db, settings):
    settings.FEED_STRATEGY = "outbox"
    outcomes = set()
    for statement in range(0, 300, 3):
        for model in (AuthorChange, Person, Reader, TimelineFloor):
            model.objects.all().delete()
        get_timeline_store().clear()
        make_people(7, [(1, 2), (1, 3)])
        whole_timelines()
        fill()
        try:
            with die_at(statement):
                change(1)
        except Died:
            finished = False
        else:
            finished = True
        drain()
        hidden = not Post.objects.live().filter(author_id=1).exists()
        begun = not Person.objects.get(id=1).is_active
        outcomes.add((hidden, begun))
        assert hidden == begun
        assert not AuthorChange.objects.exists()
        assert is_consistent()
        if change is people.delete and begun:
            assert not Follow.objects.filter(reader_id=1).exists()
            assert references(1) == ONLY_IDS
        if finished:
            break
    assert finished
    assert outcomes == {(False, False), (True, True)}


@pytest.mark.parametrize("change", [people.deactivate, people.delete], ids=["deactivate", "delete"])
def test_what_was_written_while_tokens_were_still_trusted_is_hidden_later(change, store):
    change(1)
    late = Post.objects.create(author_id=1, body="late")  # it was being written

    drain()

    assert shown(2, 1) == HIDDEN
    assert late.id not in feed(2) + feed(1)


def test_a_person_whose_data_cannot_be_removed_stops_nobody(friends, monkeypatch, caplog):
    people.delete(1)
    people.deactivate(2)
    late = Post.objects.create(author_id=2, body="late")

    def fail(person_id):
        raise PermissionError

    monkeypatch.setattr(people, "_erase", fail)
    drain()

    assert Post.objects.get(id=late.id).deleted_at
    assert list(AuthorChange.objects.values_list("person_id", flat=True)) == [1]
    assert "cannot be finished" in caplog.text
    monkeypatch.undo()
    monkeypatch.setattr(people, "LATE_S", 0)
    time.sleep(0.002)
    people.finish_changes()
    assert not AuthorChange.objects.exists()


def test_a_deletion_goes_on_where_its_time_ended(friends, monkeypatch):
    """Else one with many posts would begin anew each time, and let no later change be finished."""
    monkeypatch.setattr(people, "BATCH", 2)
    Post.objects.bulk_create(Post(author_id=1, body="text") for _ in range(4))
    accounts.delete(1)
    times = iter(range(10))
    monkeypatch.setattr(people, "time", SimpleNamespace(monotonic=lambda: next(times)))

    assert [people._finish(1, until=0), people._finish(1, until=2)] == [False, True]
    assert not Post.objects.exclude(body="").exists()


def test_many_friends_and_posts_go_in_batches(db, monkeypatch):
    monkeypatch.setattr(people, "BATCH", 2)
    monkeypatch.setattr("feed.follows.MOST_AT_ONCE", 2)
    make_people(6, [(1, n) for n in range(2, 7)])
    Post.objects.bulk_create(Post(author_id=1, body="text") for _ in range(5))

    people.delete(1)

    assert not Post.objects.live().exists()
    assert not Follow.objects.exists()
    assert not FollowChange.objects.exists()


def test_commands_change_people_and_name_who_is_unknown(friends, capsys):
    late = Post.objects.create(author_id=1, body="text")

    with pytest.raises(CommandError, match="unknown: 99"):
        call_command("deactivate_person", "1", "99")

    assert capsys.readouterr().out == "1: deactivated\n"
    assert Post.objects.get(id=late.id).deleted_at
    call_command("reactivate_person", "1")
    assert not Post.objects.get(id=late.id).deleted_at
    call_command("delete_person", "1")
    assert Post.objects.get(id=late.id).body == ""
    with pytest.raises(CommandError, match="unknown: 1"):
        call_command("reactivate_person", "1")
    assert not AuthorChange.objects.exists()


def test_who_is_reactivated_in_the_middle_of_being_hidden_is_shown(friends, monkeypatch):
    monkeypatch.setattr(people, "BATCH", 2)
    Post.objects.bulk_create(Post(author_id=1, body="text") for _ in range(5))
    forgetting = people.forgetting

    def reactivate_first(*post_ids):
        monkeypatch.setattr(people, "forgetting", forgetting)
        people.reactivate(1)
        return forgetting(*post_ids)

    monkeypatch.setattr(people, "forgetting", reactivate_first)
    people.deactivate(1)

    assert Post.objects.live().count() == 5
