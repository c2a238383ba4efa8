from django.db import migrations

FORWARDS = (
    # Its indexes don't end with the primary key, as those of SQLite and InnoDB do: without these a
    # claim sorts the backlog, and the newest posts of an author are all of theirs, sorted.
    "CREATE INDEX post_pending ON feed_post (id) WHERE delivered_at IS NULL",
    "CREATE INDEX post_by_author ON feed_post (author_id, id)",
    # Packed ids don't get smaller by compression, which takes more time than all the rest.
    "ALTER TABLE feed_timeline_packed ALTER post_ids SET STORAGE EXTERNAL",
)
BACKWARDS = ("DROP INDEX post_pending", "DROP INDEX post_by_author")


def on_postgresql(statements):
    def execute(apps, schema_editor):
        for statement in statements if schema_editor.connection.vendor == "postgresql" else ():
            schema_editor.execute(statement)

    return execute


class Migration(migrations.Migration):
    dependencies = [("feed", "0011_without_likes_and_exports")]

    operations = [migrations.RunPython(on_postgresql(FORWARDS), on_postgresql(BACKWARDS))]
