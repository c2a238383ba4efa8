"""The control of the kill tests: a drainer without the safeguard. It sets receipts too early."""

import os
import sys
import time

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
sys.path.insert(0, ".")
django.setup()

from django.db.models.functions import Now  # noqa: E402

from feed.models import Post  # noqa: E402
from feed.timeline_stores import get_timeline_store  # noqa: E402

while True:
    batch = list(Post.objects.pending().order_by("id")[:20])
    Post.objects.filter(id__in=[post.id for post in batch]).update(delivered_at=Now())
    time.sleep(0.02)
    get_timeline_store().deliver(batch)
