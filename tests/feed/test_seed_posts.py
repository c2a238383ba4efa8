import pytest
from django.core.management import CommandError, call_command

from feed.models import Post
from feed.timeline_stores import get_timeline_store


def seed(each):
    call_command("seed_posts", f"--each={each}", "--days=31")


def test_seeded_posts_have_past_dates_and_are_delivered(friends, capsys):
    seed(25)

    posts = Post.objects.order_by("id")
    assert len(posts) == 100
    assert not Post.objects.pending().exists()
    assert {post.created_at.month for post in posts} == {1}
    due = [post.id for post in posts if post.author_id in (1, 2, 3)]
    assert sorted(get_timeline_store().members(1)) == due


def test_the_same_arguments_give_the_same_posts(friends, capsys):
    fields = ("author_id", "body", "created_at")
    seed(5)
    first = list(Post.objects.order_by("id").values_list(*fields))
    Post.objects.all().delete()
    seed(5)

    assert list(Post.objects.order_by("id").values_list(*fields)) == first


def test_posts_are_seeded_only_where_there_are_none(friends, capsys):
    seed(1)

    with pytest.raises(CommandError, match="there are posts already"):
        seed(1)
    assert Post.objects.count() == 4


def test_posts_are_not_seeded_without_people(db, capsys):
    with pytest.raises(CommandError, match="there are no people"):
        seed(1)
