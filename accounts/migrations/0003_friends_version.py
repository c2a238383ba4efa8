from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_signup")]

    operations = [
        migrations.AddField(
            model_name="person",
            name="friends_version",
            field=models.BigIntegerField(editable=False, null=True),
        ),
    ]
