"""Loads people and friendships from the laboratory's files."""
# mypy: ignore-errors

import csv
import os
from pathlib import Path

import app  # noqa: F401  sets Django up
from actstream.models import Follow
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command


def rows(name):
    with Path(os.environ[name]).open(newline="") as file:
        return list(csv.DictReader(file))


call_command("migrate", verbosity=0)
User.objects.bulk_create(
    User(id=int(row["person_id"]), username=row["person_id"], last_name=row["token"])
    for row in rows("TOKENS")
)
person = ContentType.objects.get_for_model(User)
Follow.objects.bulk_create(
    (
        Follow(user_id=int(row["person_id"]), content_type=person, object_id=row["friend_id"])
        for row in rows("FRIENDSHIPS")
    ),
    batch_size=5000,
)
