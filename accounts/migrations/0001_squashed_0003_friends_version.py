from django.conf import settings
from django.db import migrations, models
from django.db.models import CASCADE

from accounts.tables import CreateClusteredModel

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def person(related_name):
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, CASCADE, db_index=False, related_name=related_name
    )


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("accounts", "0001_initial"),
        ("accounts", "0002_signup"),
        ("accounts", "0003_friends_version"),
    ]

    operations = [
        migrations.CreateModel(
            "Person",
            fields=[
                ("id", ID),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("username", models.CharField(max_length=150, unique=True)),
                ("is_active", models.BooleanField(default=True)),
                ("friends_version", models.BigIntegerField(editable=False, null=True)),
            ],
            options={"abstract": False},
        ),
        CreateClusteredModel(
            "Friendship",
            fields=[
                ("pk", models.CompositePrimaryKey("person_id", "friend_id", serialize=False)),
                ("friend", person("+")),
                ("person", person("friendships")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=~models.Q(person=models.F("friend")),
                        name="nobody_befriends_themselves",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            "Group",
            fields=[("id", ID), ("name", models.CharField(max_length=150, unique=True))],
        ),
        migrations.CreateModel(
            "Profile",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        settings.AUTH_USER_MODEL, CASCADE, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=150)),
            ],
        ),
        CreateClusteredModel(
            "Membership",
            fields=[
                ("pk", models.CompositePrimaryKey("person_id", "group_id", serialize=False)),
                ("person", person("memberships")),
                ("group", models.ForeignKey("accounts.group", CASCADE, related_name="memberships")),
            ],
        ),
        migrations.RunSQL("INSERT INTO accounts_group (id, name) VALUES (1, 'public')"),
    ]
