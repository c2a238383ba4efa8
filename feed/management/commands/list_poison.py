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
        for poison in waiting.order_by("post_id").select_related("post"):
            found = {
                "post": poison.post_id,
                "author": poison.post.author_id,
                "failures": poison.failures,
                "retry_at": poison.retry_at.isoformat(),
                "error": poison.error,
            }
            self.stdout.write(json.dumps(found))
