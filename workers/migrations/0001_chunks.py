from django.db import migrations, models
from django.db.models import CASCADE


class Migration(migrations.Migration):
    initial = True
    dependencies = [("feed", "0001_squashed_0003_packed_timelines")]

    operations = [
        migrations.CreateModel(
            "Chunk",
            fields=[
                ("pk", models.CompositePrimaryKey("post_id", "number", serialize=False)),
                ("number", models.PositiveIntegerField()),
                ("post", models.ForeignKey("feed.post", CASCADE, db_index=False, related_name="+")),
            ],
        ),
    ]
