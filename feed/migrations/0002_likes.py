import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from accounts.tables import CreateClusteredModel


class Migration(migrations.Migration):
    dependencies = [
        ("feed", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateClusteredModel(
            name="Like",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "post_id",
                        "person_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "person",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="liked_by",
                        to="feed.post",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="post",
            name="like_count",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name="post",
            index=models.Index(fields=["deleted_at", "like_count", "id"], name="post_by_likes"),
        ),
    ]
