import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand
from django.db.models.functions import Now

from feed.models import Poison


class Command(BaseCommand):
    help = (
        "List the posts that cannot be delivered, with their last error: one JSON object per line."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--retry", action="store_true", help="let drainers try them again now")

    def handle(self, *args: Any, retry: bool, **options: Any) -> None:
        waiting = Poison.objects.filter(post__delivered_at=None)
        if retry:
            waiting.update(retry_at=Now())
        for it in waiting.order_by("post_id").select_related("post"):
            found = {
                "post": it.post_id,
                "author": it.post.author_id,
                "failures": it.failures,
                "retry_at": it.retry_at.isoformat(),
                "error": it.error,
            }
            self.stdout.write(json.dumps(found))
