from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feed", "0005_healing")]

    operations = [
        migrations.CreateModel(
            "Reader",
            fields=[
                ("person_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("read_on", models.DateField()),
                ("is_returning", models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField("epoch", "active_days", models.PositiveIntegerField(default=0)),
    ]
