from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.apps.registry import apps as installed
from django.db.models.signals import post_migrate

from accounts.ids import PUBLIC_GROUP_ID


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        post_migrate.connect(make_public_group, sender=self)


def make_public_group(using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """Create the group that everyone joins; ``manage.py flush`` removes rows of migrations."""
    try:
        groups = apps.get_model("accounts", "Group")._default_manager.using(using)
    except LookupError:
        return  # migrated back to before there were groups
    groups.get_or_create(id=PUBLIC_GROUP_ID, defaults={"name": "public"})
