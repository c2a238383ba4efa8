from django.conf import settings
from django.db import migrations, models
from django.db.models import CASCADE
from django.db.models.functions import Now

from accounts.tables import CreateClusteredModel

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


def to_person(**options):
    return models.ForeignKey(settings.AUTH_USER_MODEL, CASCADE, **options)


def to_post():
    return models.ForeignKey("feed.post", CASCADE, related_name="+")


def create_copied_entry(name, table):
    fields = [
        ("id", ID),
        ("body", models.TextField(max_length=2000)),
        ("owner", to_person(related_name="+")),
        ("post", to_post()),
    ]
    return migrations.CreateModel(name, fields, {"db_table": table, "abstract": False})


def deliver_once(name):
    constraint = models.UniqueConstraint(fields=("owner", "post"), name=f"{name}_delivered_once")
    return migrations.AddConstraint(name, constraint)


class Migration(migrations.Migration):
    initial = True
    replaces = [
        ("feed", "0001_initial"),
        ("feed", "0002_likes"),
        ("feed", "0003_packed_timelines"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateClusteredModel(
            "SetBasedEntry",
            fields=[
                ("pk", models.CompositePrimaryKey("owner_id", "post_id", serialize=False)),
                ("owner_id", models.BigIntegerField()),
                ("post_id", models.BigIntegerField()),
            ],
            options={"db_table": "feed_timeline_setbased"},
        ),
        migrations.CreateModel(
            "Post",
            fields=[
                ("id", ID),
                ("body", models.TextField(max_length=2000)),
                ("created_at", models.DateTimeField(db_default=Now(), editable=False)),
                ("delivered_at", models.DateTimeField(editable=False, null=True)),
                ("deleted_at", models.DateTimeField(editable=False, null=True)),
                ("like_count", models.PositiveIntegerField(default=0, editable=False)),
                ("author", to_person(related_name="posts")),
            ],
        ),
        migrations.CreateModel(
            "IdempotencyKey",
            fields=[
                ("pk", models.CompositePrimaryKey("author_id", "key_sha256", serialize=False)),
                ("key_sha256", models.CharField(max_length=64)),
                ("body_sha256", models.CharField(max_length=64)),
                ("author", to_person(db_index=False, related_name="+")),
                ("post", to_post()),
            ],
        ),
        create_copied_entry("BulkEntry", "feed_timeline_bulk"),
        create_copied_entry("RowwiseEntry", "feed_timeline_rowwise"),
        migrations.AddIndex("post", models.Index(fields=["delivered_at"], name="post_backlog")),
        migrations.AddIndex(
            "post", models.Index(fields=["deleted_at", "like_count", "id"], name="post_by_likes")
        ),
        deliver_once("bulkentry"),
        deliver_once("rowwiseentry"),
        migrations.CreateModel(
            "PackedTimeline",
            fields=[
                ("owner_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("post_ids", models.BinaryField()),
            ],
            options={"db_table": "feed_timeline_packed"},
        ),
    ]
