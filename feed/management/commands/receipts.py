import csv
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand
from django.db.models import Count

from accounts.models import Friendship
from feed.models import Post

LOOK_AGAIN_S = 0.05


class Command(BaseCommand):
    help = (
        "List every post as CSV: id, created_at and delivered_at (Unix time in seconds by the "
        "database's clock; empty without a receipt), deliveries."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        wait = "first wait up to so many seconds until every post has its receipt"
        parser.add_argument("--wait", type=float, default=0, metavar="SECONDS", help=wait)

    def handle(self, *args: Any, **options: Any) -> None:
        give_up_at = time.monotonic() + options["wait"]
        while time.monotonic() < give_up_at and Post.objects.pending().exists():
            time.sleep(LOOK_AGAIN_S)
        friends = dict(Friendship.objects.values_list("person_id").annotate(Count("friend_id")))
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("id", "created_at", "delivered_at", "deliveries"))
        posts = Post.objects.order_by("id").values_list(
            "id", "author_id", "created_at", "delivered_at"
        )
        for post_id, author_id, created_at, delivered_at in posts.iterator():
            delivered = delivered_at and delivered_at.timestamp()
            rows.writerow(
                (post_id, created_at.timestamp(), delivered, friends.get(author_id, 0) + 1)
            )
