"""Takes foreign keys off tables whose models have left the service."""

import re
from typing import Any

REFERENCE = re.compile(r' REFERENCES "\w+" \("\w+"\)( DEFERRABLE INITIALLY DEFERRED)?')


def drop_foreign_keys(schema_editor: Any, table: str) -> None:
    """Drop all foreign keys of a table, if there is such a table: its rows stay."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return
        constraints = connection.introspection.get_constraints(cursor, table)
    names = [name for name, constraint in constraints.items() if constraint["foreign_key"]]
    if connection.vendor == "sqlite":
        _rebuild_without(schema_editor, table)
        return
    for name in names:
        sql, quote = schema_editor.sql_delete_fk, schema_editor.quote_name
        schema_editor.execute(sql % {"table": quote(table), "name": quote(name)})


def _rebuild_without(schema_editor: Any, table: str) -> None:
    """SQLite can't alter a table's foreign keys: copy its rows into a table without."""
    with schema_editor.connection.cursor() as cursor:
        listed = "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND sql > '' ORDER BY type DESC"
        cursor.execute(listed, [table])
        created, *indexes = [sql for (sql,) in cursor.fetchall()]
    without = REFERENCE.sub("", created).replace(f'"{table}"', f'"{table}__new"', 1)
    for statement in (
        without,
        f'INSERT INTO "{table}__new" SELECT * FROM "{table}"',  # noqa: S608
        f'DROP TABLE "{table}"',
        f'ALTER TABLE "{table}__new" RENAME TO "{table}"',
        *indexes,
    ):
        schema_editor.execute(statement)
