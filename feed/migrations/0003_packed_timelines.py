from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("feed", "0002_likes"),
    ]

    operations = [
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
