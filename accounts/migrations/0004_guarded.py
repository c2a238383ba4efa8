from django.conf import settings
from django.db import migrations, models
from django.db.models import CASCADE
from django.db.models.functions import Now

from accounts.usernames import username_key

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
CHUNK = 1_000


def fill_username_keys(apps, schema_editor):
    """Give everybody their key; of people whose names look alike, the first one gets it."""
    everyone = apps.get_model("accounts", "Person").objects.order_by("id").only("id", "username")
    taken = set()
    newest_id = 0
    while people := list(everyone.filter(id__gt=newest_id)[:CHUNK]):
        newest_id = people[-1].id
        for person in people:
            key = username_key(person.username)
            person.username_key = None if key in taken else key
            taken.add(key)
        everyone.bulk_update(people, ["username_key"])


def to_person(related_name, **options):
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, CASCADE, related_name=related_name, **options
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_squashed_0003_friends_version")]

    operations = [
        migrations.CreateModel(
            "Limit",
            fields=[
                ("key", models.CharField(max_length=150, primary_key=True, serialize=False)),
                ("until_ms", models.BigIntegerField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            "Revocation",
            fields=[
                ("id", ID),
                ("person_id", models.BigIntegerField()),
                ("version", models.BigIntegerField(null=True)),
                ("session_id", models.BigIntegerField(null=True)),
                ("revoked_at", models.DateTimeField(db_default=Now(), db_index=True)),
            ],
        ),
        migrations.AddField(
            "person", "tokens_version", models.BigIntegerField(default=0, editable=False)
        ),
        migrations.AddField(
            "person",
            "username_key",
            models.CharField(editable=False, max_length=255, null=True, unique=True),
        ),
        migrations.RunPython(fill_username_keys, migrations.RunPython.noop),
        migrations.CreateModel(
            "Block",
            fields=[
                ("pk", models.CompositePrimaryKey("person_id", "other_id", serialize=False)),
                ("other", to_person("blocks_by_others")),
                ("person", to_person("blocks", db_index=False)),
            ],
        ),
        migrations.CreateModel(
            "FriendRequest",
            fields=[
                ("pk", models.CompositePrimaryKey("person_id", "friend_id", serialize=False)),
                ("friend", to_person("requests_of_others", db_index=False)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("person", to_person("requests", db_index=False)),
            ],
            options={
                "indexes": [models.Index(fields=["friend", "created_at"], name="request_received")],
            },
        ),
        migrations.CreateModel(
            "Session",
            fields=[
                ("id", ID),
                ("refresh_id", models.CharField(max_length=32)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("person", to_person("sessions")),
            ],
        ),
    ]
