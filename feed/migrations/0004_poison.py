from django.db import migrations, models
from django.db.models import CASCADE
from django.db.models.functions import Now

POST = models.OneToOneField(
    "feed.post", CASCADE, primary_key=True, related_name="+", serialize=False
)


class Migration(migrations.Migration):
    dependencies = [("feed", "0001_squashed_0003_packed_timelines")]

    operations = [
        migrations.CreateModel(
            "Poison",
            fields=[
                ("post", POST),
                ("failures", models.PositiveIntegerField(default=0)),
                ("retry_at", models.DateTimeField(db_default=Now())),
                ("error", models.CharField(max_length=500)),
            ],
        ),
    ]
