# mypy: ignore-errors
"""claims by state: a drainer claims what is newer than the newest post with a receipt."""

from datetime import timedelta

from django.db.models import Max

from feed import delivery
from feed.models import Post
from lab.faults.unguarded.switch import lacks

SLACK = timedelta(seconds=5)

_deliver_claimed = delivery._deliver_claimed


def _by_time(backlog, limit):
    if lacks("claims by state"):
        newest = Post.objects.exclude(delivered_at=None).aggregate(at=Max("created_at"))["at"]
        if newest:
            backlog = backlog.filter(created_at__gt=newest - SLACK)
    return _deliver_claimed(backlog, limit)


delivery._deliver_claimed = _by_time
