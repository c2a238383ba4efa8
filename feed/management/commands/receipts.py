import csv
from typing import Any

from django.core.management import BaseCommand
from django.db.models import Count

from accounts.models import Follow
from feed.celebrities import pulled
from feed.models import Post


class Command(BaseCommand):
    help = (
        "List every post as CSV: id, created_at and delivered_at (Unix time in seconds by the "
        "database's clock; empty without a receipt), deliveries."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        readers = dict(Follow.objects.values_list("author_id").annotate(Count("reader_id")))
        readers |= dict.fromkeys(pulled().values_list("person_id", flat=True), 0)
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("id", "created_at", "delivered_at", "deliveries"))
        posts = Post.objects.order_by("id").values_list(
            "id", "author_id", "created_at", "delivered_at"
        )
        for post_id, author_id, created_at, delivered_at in posts.iterator():
            delivered = delivered_at and delivered_at.timestamp()
            rows.writerow(
                (post_id, created_at.timestamp(), delivered, readers.get(author_id, 0) + 1)
            )
