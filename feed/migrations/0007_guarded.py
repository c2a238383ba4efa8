from django.db import migrations, models
from django.db.models.functions import Now

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [("feed", "0006_readers")]

    operations = [
        migrations.CreateModel(
            "AuthorChange",
            fields=[
                ("id", ID),
                ("person_id", models.BigIntegerField()),
                ("changed_at", models.DateTimeField(db_default=Now())),
            ],
        ),
        migrations.AddField(
            "idempotencykey",
            "created_at",
            models.DateTimeField(db_default=Now(), db_index=True, editable=False),
        ),
    ]
