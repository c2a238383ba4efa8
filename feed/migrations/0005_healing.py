from django.db import migrations, models
from django.db.models.functions import Now

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
ONE = models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)


class Migration(migrations.Migration):
    dependencies = [("feed", "0004_poison")]

    operations = [
        # Written without headers; they are computed anew when they are read.
        migrations.RunSQL("DELETE FROM feed_timeline_packed", migrations.RunSQL.noop),
        migrations.CreateModel(
            "Epoch",
            fields=[
                ("id", ONE),
                ("number", models.BigIntegerField()),
                ("store", models.CharField(max_length=64)),
                ("server", models.CharField(blank=True, max_length=64)),
                ("floor", models.BigIntegerField()),
                ("shards", models.PositiveIntegerField()),
                ("closed_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            "FriendshipChange",
            fields=[
                ("id", ID),
                ("person_id", models.BigIntegerField()),
                ("friend_id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.CreateModel(
            "TimelineFloor",
            fields=[
                ("owner_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("floor", models.BigIntegerField()),
            ],
            options={"db_table": "feed_timeline_floor"},
        ),
    ]
