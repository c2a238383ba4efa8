import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def person(**options):
    return models.ForeignKey(
        db_constraint=False,
        on_delete=django.db.models.deletion.CASCADE,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        **options,
    )


def big_id():
    return models.BigAutoField(
        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
    )


def log_fields():
    directions = [("in", "In"), ("out", "Out")]
    return [
        ("id", big_id()),
        ("at", models.BigIntegerField()),
        ("device", models.SmallIntegerField()),
        ("direction", models.CharField(choices=directions, max_length=3)),
        ("person", person(db_index=False)),
    ]


def tag_fields():
    return [
        ("id", models.AutoField(primary_key=True, serialize=False)),
        ("card", models.CharField(max_length=45)),
        ("at", models.DateTimeField()),
        ("device", models.IntegerField()),
    ]


def table(name, index=None):
    return {"db_table": name} | ({"indexes": [index]} if index else {})


PERSON_AT = models.Index(fields=["person", "at"], name="activity_person_at")
CARD_AT = models.Index(fields=["card", "at"], name="activity_card_at")


class Migration(migrations.Migration):
    initial = True
    replaces = [("activity", "0001_initial"), ("activity", "0002_tags")]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel("PlainLog", log_fields(), table("activity_log_plain")),
        migrations.CreateModel(
            "IndexedLog", log_fields(), table("activity_log_indexed", PERSON_AT)
        ),
        migrations.CreateModel(
            "Gate",
            [
                ("id", big_id()),
                ("entry_device", models.IntegerField(unique=True)),
                ("exit_device", models.IntegerField(unique=True)),
            ],
            table("activity_gate"),
        ),
        migrations.CreateModel("PlainTag", tag_fields(), table("activity_tag_plain")),
        migrations.CreateModel(
            "Card",
            [
                ("number", models.CharField(max_length=45, primary_key=True, serialize=False)),
                ("person", person()),
            ],
            table("activity_card"),
        ),
        migrations.CreateModel("IndexedTag", tag_fields(), table("activity_tag_indexed", CARD_AT)),
    ]
