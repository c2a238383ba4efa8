from typing import Any

from django.core.management import BaseCommand

from feed.selectors import miscounted_posts


class Command(BaseCommand):
    help = "Print how many posts say another number of likes than they have."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(str(miscounted_posts()))
