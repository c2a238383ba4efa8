from django.db import migrations, models
from django.db.models.functions import Now

STATES = [("entering", "Entering"), ("pulled", "Pulled"), ("leaving", "Leaving")]


class Migration(migrations.Migration):
    dependencies = [("feed", "0007_guarded")]

    operations = [
        migrations.CreateModel(
            "Celebrity",
            fields=[
                ("person_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("state", models.CharField(choices=STATES, default="entering", max_length=10)),
                ("changed_at", models.DateTimeField(db_default=Now())),
            ],
        ),
    ]
