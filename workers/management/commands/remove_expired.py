from typing import Any

from django.core.management import BaseCommand

from feed.expiry import remove_expired


class Command(BaseCommand):
    help = "Remove expired keys, sessions, revocations and limits, as drainers do."

    def handle(self, *args: Any, **options: Any) -> None:
        while remove_expired():
            pass
