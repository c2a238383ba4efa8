"""Bulk inserts and deletes without model instances."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model, QuerySet


def insert_rows(model: type[Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into a model's table. ``rows``: the values of ``columns``, for the database."""
    quote = connection.ops.quote_name
    names, marks = ", ".join(map(quote, columns)), ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)  # type: ignore[arg-type]
        # Ids that are given don't move a sequence of PostgreSQL.
        given = [model] if "id" in columns else []
        for count_on in connection.ops.sequence_reset_sql(no_style(), given):
            cursor.execute(count_on)


def delete_first(rows: QuerySet[Any, Any], column: str, *, most: int = 1_000) -> bool:
    """Delete about ``most`` rows, the first ones by a column; return whether there are more."""
    values = rows.order_by(column).values_list(column, flat=True)
    next_value = list(values[most : most + 1])
    first = rows.filter(**{f"{column}__lte": next_value[0]}) if next_value else rows
    first.delete()
    return bool(next_value)
