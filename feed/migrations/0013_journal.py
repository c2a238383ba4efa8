from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("feed", "0012_indexes_of_postgresql")]

    operations = [
        migrations.CreateModel(
            "JournalStep",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("nonce", models.BigIntegerField()),
                ("news", models.BinaryField()),
                ("written_at", models.DateTimeField(db_default=Now(), db_index=True)),
            ],
        ),
    ]
