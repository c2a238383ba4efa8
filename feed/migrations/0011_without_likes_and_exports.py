from django.db import migrations

from db.foreign_keys import drop_foreign_keys

LEFT = {"feed_like", "exports_exportjob"}
"""Tables of replays, which earlier releases had in the service: a service without these replays
must be able to delete people and posts."""


def forwards(apps, schema_editor):
    for table in LEFT - {model._meta.db_table for model in apps.get_models()}:
        drop_foreign_keys(schema_editor, table)


class Migration(migrations.Migration):
    dependencies = [("feed", "0010_changes_of_timelines")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop, atomic=False)]
