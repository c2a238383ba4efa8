from django.db import migrations, models
from django.db.models.functions import Now

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
COPY = """
    INSERT INTO feed_followchange (author_id, reader_id, changed_at)
    SELECT person_id, friend_id, changed_at FROM feed_friendshipchange
     UNION ALL
    SELECT friend_id, person_id, changed_at FROM feed_friendshipchange
"""
BACK = """
    INSERT INTO feed_friendshipchange (person_id, friend_id, changed_at)
    SELECT author_id, reader_id, changed_at FROM feed_followchange
"""


class Migration(migrations.Migration):
    """A change had been of the timelines of both people; it is of the reader's."""

    dependencies = [("feed", "0013_journal")]

    operations = [
        migrations.CreateModel(
            "FollowChange",
            fields=[
                ("id", ID),
                ("author_id", models.BigIntegerField()),
                ("reader_id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.RunSQL(COPY, BACK),
        migrations.DeleteModel("FriendshipChange"),
    ]
