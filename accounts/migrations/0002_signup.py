import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from accounts.tables import CreateClusteredModel

# Existing people get the rows that a sign-up creates.
EVERYONE = (
    "INSERT INTO accounts_group (id, name) VALUES (1, 'public')",
    "INSERT INTO accounts_profile (person_id, name) SELECT id, '' FROM accounts_person",
    "INSERT INTO accounts_membership (person_id, group_id) SELECT id, 1 FROM accounts_person",
)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Group",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=150)),
            ],
        ),
        CreateClusteredModel(
            name="Membership",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "person_id",
                        "group_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="accounts.group",
                    ),
                ),
            ],
        ),
        *(migrations.RunSQL(sql, migrations.RunSQL.noop) for sql in EVERYONE),
    ]
