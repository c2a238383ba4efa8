"""What the queues' own commands import: it sets up Django, and has the queue's app."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from workers.queues import get_queue  # noqa: E402  needs the apps
from workers.tasks import carry_out  # noqa: E402

__all__ = ["app", "carry_out"]
app = get_queue().app
