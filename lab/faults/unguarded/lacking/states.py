# mypy: ignore-errors
"""claims by state: a drainer claims what is newer than the newest post with a receipt."""

from datetime import timedelta
from functools import partial

from django.db.models import Max

from feed import delivery
from feed.models import Post
from lab.faults.unguarded.switch import lacks

SLACK = timedelta(seconds=5)

_deliver_claimed = delivery._deliver_claimed


def _by_time(claim, limit):
    return _deliver_claimed(partial(_newer, claim), limit)


def _newer(claim, limit):
    posts = claim(limit)
    newest = Post.objects.exclude(delivered_at=None).aggregate(at=Max("created_at"))["at"]
    if not lacks("claims by state") or newest is None:
        return posts
    return [post for post in posts if post.created_at > newest - SLACK]


delivery._deliver_claimed = _by_time
