from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feed", "0008_celebrities")]

    operations = [migrations.AlterField("epoch", "server", models.TextField(blank=True))]
