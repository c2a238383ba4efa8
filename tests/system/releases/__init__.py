"""Databases that releases made: what ``write`` leaves in an empty one, dumped as SQL.

For the next release, at its commit:

    export DATABASE_URL=sqlite:////tmp/release.sqlite3
    .venv/bin/python manage.py migrate
    .venv/bin/python manage.py shell -c 'from tests.system.releases import write; write()'
    sqlite3 /tmp/release.sqlite3 .dump > tests/system/releases/X.Y.Z.sqlite.sql

and with a MariaDB: ``mariadb-dump --skip-dump-date --no-tablespaces feed > X.Y.Z.mariadb.sql``.
"""

from django.core.management import call_command

from accounts.models import Person
from accounts.services import sign_up
from feed.models import Post
from feed.services import delete_post, like_post, publish_post
from feed.timeline_stores import timeline_stores
from tests.backends import SQL_STORES

PASSWORD = "a long password"


def write():
    """Write people, posts in the timelines of every SQL store, likes, a deletion and visits."""
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
    call_command("seed_visits", rows=300, verbosity=0)
