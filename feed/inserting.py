"""Writing a post with the statement that Django compiles for it, compiled once a connection.

Compiling it was a quarter of a request (docs/decisions/0025).
"""

from typing import Any

from django.db import connections, router
from django.db.models.sql import InsertQuery

from feed.models import Post

GIVEN = [field for field in Post._meta.concrete_fields if not field.primary_key]


class _Insert:
    """The statement for one connection, with everything that Django knows of its backend."""

    def __init__(self, connection: Any) -> None:
        query = InsertQuery(Post)
        query.insert_values(GIVEN, [Post(author_id=1, body="")])
        self._compiler = query.get_compiler(connection=connection)
        fields = Post._meta.db_returning_fields  # which asks the database what it can return
        self._returns = connection.features.can_return_columns_from_insert
        self._compiler.returning_fields = fields if self._returns else None
        ((self._sql, (_author_id, _body, *self._others)),) = self._compiler.as_sql()
        self._names = [field.attname for field in fields]
        columns = [field.get_col(Post._meta.db_table) for field in fields]
        self._converters = self._compiler.get_converters(columns)

    def run(self, author_id: int, body: str) -> dict[str, Any]:
        """Write a post and return what the database gave it: its id, and when it can its time."""
        operations = self._compiler.connection.ops
        with self._compiler.connection.cursor() as cursor:
            cursor.execute(self._sql, (author_id, body, *self._others))
            if self._returns:
                row = operations.fetch_returned_insert_columns(
                    cursor, self._compiler.returning_params
                )
            else:
                row = (operations.last_insert_id(cursor, Post._meta.db_table, "id"),)
        (converted,) = self._compiler.apply_converters([row], self._converters)
        return dict(zip(self._names, converted, strict=True))


def insert_post(author_id: int, body: str) -> Post:
    """Write a post like ``Post.objects.create``, without signals."""
    alias = router.db_for_write(Post)
    connection: Any = connections[alias]
    if not hasattr(connection, "insert_of_posts"):
        connection.insert_of_posts = _Insert(connection)
    values = {
        "author_id": author_id,
        "body": body,
        "delivered_at": None,
        "deleted_at": None,
        "like_count": 0,
        **connection.insert_of_posts.run(author_id, body),
    }
    names = [field.attname for field in Post._meta.concrete_fields if field.attname in values]
    return Post.from_db(alias, names, [values[name] for name in names])
