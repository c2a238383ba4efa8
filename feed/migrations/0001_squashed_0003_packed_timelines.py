import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from accounts.tables import CreateClusteredModel


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
            name="SetBasedEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "owner_id",
                        "post_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("owner_id", models.BigIntegerField()),
                ("post_id", models.BigIntegerField()),
            ],
            options={
                "db_table": "feed_timeline_setbased",
            },
        ),
        migrations.CreateModel(
            name="Post",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.TextField(max_length=2000)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("delivered_at", models.DateTimeField(editable=False, null=True)),
                ("deleted_at", models.DateTimeField(editable=False, null=True)),
                ("like_count", models.PositiveIntegerField(default=0, editable=False)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="posts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "author_id",
                        "key_sha256",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("key_sha256", models.CharField(max_length=64)),
                ("body_sha256", models.CharField(max_length=64)),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="feed.post",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BulkEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.TextField(max_length=2000)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="feed.post",
                    ),
                ),
            ],
            options={
                "db_table": "feed_timeline_bulk",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RowwiseEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.TextField(max_length=2000)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="feed.post",
                    ),
                ),
            ],
            options={
                "db_table": "feed_timeline_rowwise",
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="post",
            index=models.Index(fields=["delivered_at"], name="post_backlog"),
        ),
        migrations.AddIndex(
            model_name="post",
            index=models.Index(fields=["deleted_at", "like_count", "id"], name="post_by_likes"),
        ),
        migrations.AddConstraint(
            model_name="bulkentry",
            constraint=models.UniqueConstraint(
                fields=("owner", "post"), name="bulkentry_delivered_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="rowwiseentry",
            constraint=models.UniqueConstraint(
                fields=("owner", "post"), name="rowwiseentry_delivered_once"
            ),
        ),
        migrations.CreateModel(
            name="PackedTimeline",
            fields=[
                ("owner_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("post_ids", models.BinaryField()),
            ],
            options={
                "db_table": "feed_timeline_packed",
            },
        ),
    ]
