from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("feed", "0009_epoch_of_several_servers")]

    operations = [migrations.AddField("epoch", "changed_at", models.DateTimeField(null=True))]
