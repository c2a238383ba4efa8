"""Databases that releases made: what ``write`` leaves in an empty one, dumped as SQL.

``check`` looks at one after an upgrade.

For the next release, at its commit, on an empty SQLite file and on an empty MariaDB:

    .venv/bin/python manage.py migrate
    .venv/bin/python manage.py shell -c 'from tests.system.releases import write; write()'
    sqlite3 FILE .dump > tests/system/releases/X.Y.Z.sqlite.sql
    mariadb-dump --compact --hex-blob feed > tests/system/releases/X.Y.Z.mariadb.sql
"""

from django.core.management import call_command
from django.db.models import Q
from django.test import override_settings

from accounts.models import Person
from accounts.services import sign_up
from feed.audit import audit
from feed.models import PackedTimeline, Post
from feed.selectors import miscounted_posts, read_timeline
from feed.services import delete_post, like_post, publish_post
from feed.timeline_stores import timeline_stores
from tests.backends import SQL_STORES

PASSWORD = "a long password"


def write():
    """Write people, posts in the timelines of every SQL store, likes and a deletion."""
    call_command("seed_people", people=8, friends=4, verbosity=0)
    ada = sign_up(username="ada ünï", password=PASSWORD)
    for number in range(3):
        for author_id in Person.objects.values_list("id", flat=True):
            key = f"key of {author_id}" if number == 0 else None
            publish_post(author_id=author_id, body=f"text {number} ✓", idempotency_key=key)
    posts = list(Post.objects.order_by("id"))
    for alias in SQL_STORES:
        timeline_stores[alias].deliver(posts)
    for post in posts[:5]:
        like_post(person_id=ada.id, post_id=post.id)
    delete_post(person_id=posts[2].author_id, post_id=posts[2].id)


def check():
    """Assert that everything that ``write`` wrote is there, and that the service goes on."""
    assert not PackedTimeline.objects.exists(), "without headers"
    for alias in (*SQL_STORES, "setbased"):  # which goes on
        assert _audited(alias) == (True, 27, 118), alias
    assert miscounted_posts() == 0
    assert not Person.objects.filter(Q(profile=None) | Q(memberships=None)).exists()
    ada = Person.objects.get(username="ada ünï")
    assert ada.check_password(PASSWORD)
    first = Post.objects.get(author_id=ada.id, body="text 0 ✓")
    key = f"key of {ada.id}"
    again = publish_post(author_id=ada.id, body=first.body, idempotency_key=key)
    assert (again.replayed, again.post.id) == (True, first.id)
    with override_settings(FEED_STRATEGY="inline", FEED_TIMELINE_STORE="setbased"):
        publish_post(author_id=ada.id, body="after the upgrade")
        assert len(read_timeline(owner_id=ada.id, before=None, limit=20).posts) == 4
    assert _audited("setbased") == (True, 28, 119)


def _audited(alias):
    """Choose a store, fill its timelines, and audit them."""
    with override_settings(FEED_TIMELINE_STORE=alias):
        call_command("begin_epoch")
        call_command("rebuild_timelines", "--fast")
    *_, (_, found) = audit(timeline_stores[alias], [])
    return found.ok and not found.left, found.posts, found.expected
