"""Tables that are stored in the order of their primary key."""

from typing import Any

from django.db.migrations import CreateModel
from django.db.migrations.state import ProjectState


class CreateClusteredModel(CreateModel):
    """CreateModel for a table that is its primary key: on SQLite a WITHOUT ROWID table.

    InnoDB tables are clustered by their primary key anyway.
    https://www.sqlite.org/withoutrowid.html
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: Any,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if schema_editor.connection.vendor != "sqlite":
            return super().database_forwards(app_label, schema_editor, from_state, to_state)
        model = to_state.apps.get_model(app_label, self.name)
        sql, params = schema_editor.table_sql(model)
        schema_editor.execute(f"{sql} WITHOUT ROWID", params or None)
