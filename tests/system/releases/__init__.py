"""Databases that releases made: what ``write`` leaves in an empty one, dumped as SQL.

``check`` looks at one after an upgrade.

For the next release, at its commit, on an empty SQLite file, MariaDB and PostgreSQL:

    .venv/bin/python manage.py migrate
    .venv/bin/python manage.py shell -c 'from tests.system.releases import write; write()'
    sqlite3 FILE .dump > tests/system/releases/X.Y.Z.sqlite.sql
    mariadb-dump --compact --hex-blob feed > tests/system/releases/X.Y.Z.mariadb.sql
    pg_dump --no-owner --no-privileges URL | grep --invert-match restrict \\
        > tests/system/releases/X.Y.Z.postgresql.sql
"""

from django.core.management import call_command
from django.db import connection
from django.db.models import Q
from django.test import override_settings

from accounts.blocks import block
from accounts.follows import ask
from accounts.models import Block, FriendRequest, Person
from accounts.services import sign_up
from feed.audit import audit
from feed.models import Epoch, PackedTimeline, Post
from feed.selectors import read_timeline
from feed.services import delete_post, publish_post
from feed.timeline_stores import timeline_stores
from tests.backends import SQL_STORES

PASSWORD = "a long password"
HAD_REPLAYS = ("0.1.0", "a222b7a")
"""Releases with what replays have now: they wrote five likes and 300 visits, and nobody asked
or blocked anybody."""


def write():
    """Write people, a request, a block, posts in the timelines of every SQL store, a deletion."""
    call_command("seed_people", people=8, friends=4, verbosity=0)
    ada = sign_up(username="ada ünï", password=PASSWORD)
    first, second, *_ = Person.objects.exclude(id=ada.id).order_by("id")
    ask(ada.id, first.id)
    block(ada.id, second.id)
    for number in range(3):
        for author_id in Person.objects.values_list("id", flat=True):
            key = f"key of {author_id}" if number == 0 else None
            publish_post(author_id=author_id, body=f"text {number} ✓", idempotency_key=key)
    posts = list(Post.objects.order_by("id"))
    for alias in SQL_STORES:
        timeline_stores[alias].deliver(posts)
    delete_post(person_id=posts[2].author_id, post_id=posts[2].id)


def check(release):
    """Assert that everything that ``write`` wrote is there, and that the service goes on."""
    if not Epoch.objects.exists():  # in 0.1.0 packed timelines had no headers
        assert not PackedTimeline.objects.exists()
    for alias in (*SQL_STORES, "setbased"):  # which goes on
        assert _audited(alias) == (True, 27, 118), alias
    if release in HAD_REPLAYS:
        assert _rows("feed_like") == _rows("feed_post WHERE like_count = 1") == 5
        assert _rows("activity_log_indexed") == 300
    else:
        assert FriendRequest.objects.get().person.username == "ada ünï"
        assert Block.objects.get().person.username == "ada ünï"
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
    for rows in (Post, Person):
        rows.objects.all().delete()
    assert (_rows("feed_post"), _rows("accounts_person")) == (0, 0)
    if release in HAD_REPLAYS:  # their tables are left alone
        assert _rows("feed_like") == 5


def check_replays():
    """Assert that replays, where they are installed, go on with what earlier releases wrote."""
    call_command("audit_likes")
    call_command("audit_activity", "--json")
    Person.objects.get(username="ada ünï").delete()
    assert (_rows("feed_like"), _rows("exports_exportjob")) == (0, 0)


def _rows(table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return cursor.fetchone()[0]


def _audited(alias):
    """Choose a store, fill its timelines, and audit them."""
    with override_settings(FEED_TIMELINE_STORE=alias):
        call_command("begin_epoch")
        call_command("rebuild_timelines", "--fast")
    *_, (_, found) = audit(timeline_stores[alias], [])
    return found.ok and not found.left, found.posts, found.expected
