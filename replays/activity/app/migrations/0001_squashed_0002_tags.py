import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    replaces = [("activity", "0001_initial"), ("activity", "0002_tags")]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PlainLog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.BigIntegerField()),
                ("device", models.SmallIntegerField()),
                (
                    "direction",
                    models.CharField(choices=[("in", "In"), ("out", "Out")], max_length=3),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "activity_log_plain",
            },
        ),
        migrations.CreateModel(
            name="IndexedLog",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.BigIntegerField()),
                ("device", models.SmallIntegerField()),
                (
                    "direction",
                    models.CharField(choices=[("in", "In"), ("out", "Out")], max_length=3),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "activity_log_indexed",
                "indexes": [models.Index(fields=["person", "at"], name="activity_person_at")],
            },
        ),
        migrations.CreateModel(
            name="Gate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("entry_device", models.IntegerField(unique=True)),
                ("exit_device", models.IntegerField(unique=True)),
            ],
            options={
                "db_table": "activity_gate",
            },
        ),
        migrations.CreateModel(
            name="PlainTag",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("card", models.CharField(max_length=45)),
                ("at", models.DateTimeField()),
                ("device", models.IntegerField()),
            ],
            options={
                "db_table": "activity_tag_plain",
            },
        ),
        migrations.CreateModel(
            name="Card",
            fields=[
                ("number", models.CharField(max_length=45, primary_key=True, serialize=False)),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "activity_card",
            },
        ),
        migrations.CreateModel(
            name="IndexedTag",
            fields=[
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("card", models.CharField(max_length=45)),
                ("at", models.DateTimeField()),
                ("device", models.IntegerField()),
            ],
            options={
                "db_table": "activity_tag_indexed",
                "indexes": [models.Index(fields=["card", "at"], name="activity_card_at")],
            },
        ),
    ]
