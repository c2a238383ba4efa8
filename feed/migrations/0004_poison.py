import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [
        ("feed", "0001_squashed_0003_packed_timelines"),
    ]

    operations = [
        migrations.CreateModel(
            name="Poison",
            fields=[
                (
                    "post",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="feed.post",
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(db_default=Now())),
                ("error", models.CharField(max_length=500)),
            ],
        ),
    ]
