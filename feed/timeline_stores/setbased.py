from collections.abc import Sequence

from django.db import connection

from accounts.models import Friendship
from feed.celebrities import merged
from feed.models import Post, SetBasedEntry
from feed.readers import delivered_since
from feed.statements import INSERT_IGNORE
from feed.timeline_stores.sql import RowStore

ONLY_TO_READERS = "AND friend_id IN (SELECT person_id FROM feed_reader WHERE read_on >= %s)"

NOT_OF_CELEBRITIES = """
   AND post.author_id NOT IN (SELECT person_id FROM feed_celebrity WHERE state = 'pulled')"""


class SetBased(RowStore):
    """One ``INSERT … SELECT`` per batch, into a table that is its primary key (owner, post).

    The friend ids never leave the database. Rows are written in the table's own order, so that
    every page of it is touched once per batch, not once per post.
    """

    model = SetBasedEntry

    accepts_partial_delivery = True

    def deliver(self, posts: Sequence[Post]) -> None:
        ids = [post.id for post in posts]
        if not ids:
            return
        with connection.cursor() as cursor:
            since = delivered_since()
            condition, days = ("", []) if since is None else (ONLY_TO_READERS, [since])
            if merged():
                condition += NOT_OF_CELEBRITIES
            cursor.execute(_insert_statement(len(ids), condition), [*ids, *days, *ids])

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        entries = [SetBasedEntry(owner_id=owner_id, post_id=post.id) for owner_id in owner_ids]
        SetBasedEntry.objects.bulk_create(entries, ignore_conflicts=True)


def _insert_statement(posts: int, condition: str) -> str:
    ids = ", ".join(["%s"] * posts)
    return f"""
        {INSERT_IGNORE[connection.vendor]} {SetBasedEntry._meta.db_table} (owner_id, post_id)
        SELECT friendship.friend_id AS owner_id, post.id AS post_id
          FROM {Post._meta.db_table} post
          JOIN {Friendship._meta.db_table} friendship ON friendship.person_id = post.author_id
         WHERE post.id IN ({ids}) {condition}
         UNION ALL
        SELECT author_id, id FROM {Post._meta.db_table} WHERE id IN ({ids})
         ORDER BY owner_id, post_id
    """  # noqa: S608  table names of our own
