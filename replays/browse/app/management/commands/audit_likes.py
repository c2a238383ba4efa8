from typing import Any

from django.core.management import BaseCommand

from replays.browse.app.likes import miscounted_posts


class Command(BaseCommand):
    help = "Print the number of posts whose like_count is wrong."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(str(miscounted_posts()))
