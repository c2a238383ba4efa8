"""The audit finds each kind of planted fault, and nothing else."""

import json
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Follow
from feed import timeline
from feed.audit import AcceptedPost, Shown
from feed.delivery import deliver
from feed.due import due_ids
from feed.models import Post, SetBasedEntry
from feed.services import delete_post, publish_post
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.packed import Packed
from tests.conftest import whole_timelines
from tests.feed.deliveries import audited, opened, posts_by


@pytest.fixture
def posts(settings, friends):
    """Five posts of person 1, one of person 4, who has no friends: 5 * 3 + 1 deliveries."""
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "inline", "setbased"
    whole_timelines()
    mine = [publish_post(author_id=1, body=f"post {n}").post for n in range(5)]
    return [*mine, publish_post(author_id=4, body="stranger's").post]


def found(timeline=None, **options):
    return audited(timeline or get_timeline_store(), **options)


def counts(result):
    return result.expected, result.missing, result.duplicated, result.unexpected


def test_a_lost_delivery_is_missing(posts):
    SetBasedEntry.objects.filter(owner_id=2, post_id=posts[3].id).delete()

    result = found()

    assert counts(result) == (16, 1, 0, 0)
    assert result.examples["missing"] == [(2, posts[3].id)]
    assert not result.ok


def test_an_id_without_a_post_is_unexpected(posts):
    SetBasedEntry.objects.create(owner_id=2, post_id=999)

    result = found()

    assert counts(result) == (16, 0, 0, 1)
    assert result.examples["unexpected"] == [(2, 999)]
    assert not result.ok


class Duplicating(Packed):
    """Returns one delivery twice."""

    def find(self, owner_id, page):
        held = super().find(owner_id, page)
        return held._replace(ids=held.ids + held.ids[:1]) if owner_id == 3 else held


def test_a_repeated_delivery_is_duplicated(posts):
    timeline = opened(Duplicating("duplicating"), 1, 2, 3, 4)
    timeline.deliver(posts)

    result = found(timeline)

    assert counts(result) == (16, 0, 1, 0)
    assert not result.ok


def test_deliveries_of_a_deleted_post_may_be_there_or_not(posts):
    for post in posts[:2]:
        delete_post(person_id=1, post_id=post.id)
    SetBasedEntry.objects.filter(post_id=posts[0].id).delete()

    assert counts(found()) == (10, 0, 0, 0)


class Trimmed(Packed):
    def __init__(self, kept):
        super().__init__("trimmed", capacity=2)
        self.kept = kept

    def find(self, owner_id, page):
        held = super().find(owner_id, page)
        return held._replace(ids=held.ids[: self.kept])


@pytest.mark.parametrize(("kept", "missing"), [(2, 0), (3, 0), (1, 3)])
def test_a_trimmed_timeline_must_hold_only_its_newest_posts(posts, kept, missing):
    timeline = opened(Trimmed(kept), 1, 2, 3, 4)
    timeline.deliver(posts)

    assert counts(found(timeline)) == (7, missing, 0, 0)


def test_an_accepted_post_that_the_database_lost_is_missing(posts):
    lost = AcceptedPost(id=999, author_id=1, created_at=datetime(2026, 1, 1, tzinfo=UTC))

    result = found(accepted=[lost])

    assert counts(result) == (19, 3, 0, 0)
    assert result.posts == 7


def test_an_accepted_post_is_missing_if_another_has_its_id(posts):
    """Two servers with a database each give the same ids to different posts."""
    known = Post.objects.get(id=posts[0].id)
    same = AcceptedPost(known.id, known.author_id, known.created_at)
    other = same._replace(created_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert counts(found(accepted=[same])) == (16, 0, 0, 0)
    assert counts(found(accepted=[same, other])) == (19, 3, 0, 0)


def test_an_empty_service_is_clean(friends):
    assert counts(found()) == (0, 0, 0, 0)


def test_the_command_answers_json_and_exit_status_0(posts, capsys):
    call_command("audit_timelines", "--json")

    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert (answer["posts"], answer["expected"], answer["missing"]) == (6, 16, 0)


def test_the_command_exits_with_1_and_names_what_is_wrong(posts, capsys):
    SetBasedEntry.objects.filter(owner_id=2, post_id=posts[3].id).delete()

    with pytest.raises(SystemExit) as ended:
        call_command("audit_timelines")

    assert ended.value.code == 1
    assert f"missing: post {posts[3].id} of person 2" in capsys.readouterr().out


def test_the_command_reads_the_load_generators_list(posts, tmp_path, capsys):
    accepted = tmp_path / "accepted.csv"
    rows = [f"{post.id},{post.author_id},{post.created_at.isoformat()}" for post in posts]
    accepted.write_text("\n".join(["id,author,created_at", *rows, "77,1,2026-01-01T00:00:00Z"]))

    with pytest.raises(SystemExit):
        call_command("audit_timelines", "--json", "--accepted", str(accepted))

    assert json.loads(capsys.readouterr().out)["missing"] == 3


@pytest.mark.parametrize("text", ["", "id\n1\n", "id,author,created_at\n1,x,2026-01-01\n"])
def test_the_command_refuses_any_other_file(friends, tmp_path, text):
    accepted = tmp_path / "accepted.csv"
    accepted.write_text(text)
    if not text:
        accepted.unlink()

    with pytest.raises(CommandError, match="not a list of accepted posts"):
        call_command("audit_timelines", "--accepted", str(accepted))


def test_friendships_decide_which_posts_are_due(posts):
    Follow.objects.filter(author_id__in=[1, 3], reader_id__in=[1, 3]).delete()

    assert counts(found()) == (11, 0, 0, 5)


@pytest.fixture
def beyond(settings, friends, redis_url, redis, keep_timelines_at, monkeypatch):
    """Twelve posts of person 1 in a store that keeps three, read five to a page."""
    monkeypatch.setattr("feed.audit.PAGE", 5)
    monkeypatch.setattr("feed.timeline.LOADED", 5)
    keep_timelines_at(redis_url, capacity=3)
    settings.FEED_TIMELINE_STORE = "ring"
    whole_timelines()
    posts = posts_by(1, 12)
    deliver(posts)
    return posts


def shown():
    return found(view=Shown)


def test_every_feed_is_read_to_its_end(beyond):
    result = shown()

    assert counts(result) == (3 * 12, 0, 0, 0)
    assert (result.left, result.absent) == (0, 0)


def test_an_absent_timeline_is_read_from_the_database(beyond):
    get_timeline_store().clear()

    assert counts(shown()) == (3 * 12, 0, 0, 0)


def test_deleted_posts_beyond_the_capacity_may_be_shown_or_not(beyond):
    delete_post(person_id=1, post_id=beyond[0].id)

    assert counts(shown()) == (3 * 11, 0, 0, 0)


def answer(monkeypatch, change):
    """Change what the database answers for older pages."""
    monkeypatch.setattr(timeline, "due_ids", lambda *args, **page: change(due_ids(*args, **page)))


@pytest.mark.parametrize(
    ("change", "found_wrong"),
    [
        (lambda ids, old: [it for it in ids if it != old[1].id], (3, 0, 0)),
        (lambda ids, old: [old[2].id, *ids] if ids[-1] == old[0].id else ids, (0, 3, 0)),
        (lambda ids, old: [*ids, 999] if ids[-1] == old[0].id else ids, (0, 0, 3)),
    ],
    ids=["on no page", "on two pages", "by no friend"],
)
def test_what_is_wrong_beyond_the_capacity_is_found(change, found_wrong, beyond, monkeypatch):
    answer(monkeypatch, lambda ids: change(ids, beyond))

    assert counts(shown()) == (3 * 12, *found_wrong)
    assert found().ok


def test_the_command_reads_every_feed_to_its_end_when_asked(beyond, monkeypatch, capsys):
    answer(monkeypatch, lambda ids: ids[:-1] if ids[-1] == beyond[0].id else ids)

    call_command("audit_timelines")
    with pytest.raises(SystemExit):
        call_command("audit_timelines", "--all")

    assert f"missing: post {beyond[0].id} of person 1" in capsys.readouterr().out
