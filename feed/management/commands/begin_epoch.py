from typing import Any

from django.core.management import BaseCommand

from feed import epochs
from feed.timeline_stores import get_timeline_store


class Command(BaseCommand):
    help = (
        "Let the timelines be in the store that FEED_TIMELINE_STORE names, and compute each one "
        "from the database when it is read. Nothing is delivered for 1.5 s meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        store = get_timeline_store()
        epochs.begin(store)
        store.remove_old_epochs()
        self.stdout.write(f"the timelines are in the store {store.alias!r} from now on")
