from django.conf import settings
from django.db import migrations, models
from django.db.models import CASCADE

from accounts.tables import CreateClusteredModel

COPY = """
    INSERT INTO accounts_follow (author_id, reader_id)
    SELECT person_id, friend_id FROM accounts_friendship ORDER BY person_id, friend_id
"""
BACK = """
    INSERT INTO accounts_friendship (person_id, friend_id)
    SELECT author_id, reader_id FROM accounts_follow ORDER BY author_id, reader_id
"""


def to_person(related_name):
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, CASCADE, db_index=False, related_name=related_name
    )


class Migration(migrations.Migration):
    """A friendship was two rows of a person and a friend, of whom each reads the other's posts."""

    dependencies = [("accounts", "0004_guarded")]

    operations = [
        CreateClusteredModel(
            "Follow",
            fields=[
                ("pk", models.CompositePrimaryKey("author_id", "reader_id", serialize=False)),
                ("author", to_person("readers")),
                ("reader", to_person("authors")),
            ],
            options={
                "indexes": [models.Index(fields=["reader", "author"], name="follow_of_reader")],
                "constraints": [
                    models.CheckConstraint(
                        condition=~models.Q(author=models.F("reader")),
                        name="nobody_follows_themselves",
                    )
                ],
            },
        ),
        migrations.AddField(
            "person", "is_private", models.BooleanField(default=False, db_default=False)
        ),
        migrations.RunSQL(COPY, BACK),
        migrations.DeleteModel("Friendship"),
    ]
