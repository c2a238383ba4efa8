from django.db import migrations, models


def store_plainly(apps, schema_editor):
    """Packed ids don't get smaller by compression, which takes more time than all the rest."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(
            "ALTER TABLE feed_timeline_segment ALTER post_ids SET STORAGE EXTERNAL"
        )


class Migration(migrations.Migration):
    dependencies = [
        ("feed", "0012_indexes_of_postgresql"),
    ]

    operations = [
        migrations.CreateModel(
            name="Segment",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "owner_id",
                        "last_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("owner_id", models.BigIntegerField()),
                ("last_id", models.BigIntegerField()),
                ("post_ids", models.BinaryField()),
                ("floor", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "feed_timeline_segment",
            },
        ),
        migrations.RunPython(store_plainly, migrations.RunPython.noop),
    ]
