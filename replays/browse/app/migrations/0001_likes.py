import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from accounts.tables import CreateClusteredModel


class CreateMissingModel(CreateClusteredModel):
    """Leaves the table of an earlier release as it is."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        table = to_state.apps.get_model(app_label, self.name)._meta.db_table
        if table not in schema_editor.connection.introspection.table_names():
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("feed", "0001_squashed_0003_packed_timelines"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        CreateMissingModel(
            name="Like",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "post_id",
                        "person_id",
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
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "post",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="liked_by",
                        to="feed.post",
                    ),
                ),
            ],
            options={"db_table": "feed_like"},
        ),
    ]
