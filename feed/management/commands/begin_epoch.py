from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand
from redis.exceptions import RedisError

from feed import epochs
from feed.timeline_stores import get_timeline_store, timeline_stores


class Command(BaseCommand):
    help = (
        "Let the timelines be in the store that FEED_TIMELINE_STORE names, and compute each one "
        "from the database when it is read. Nothing is delivered for 1.5 s meanwhile. Removes the "
        "timelines of the epoch before."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        store = get_timeline_store()
        old = epochs.begin(store)
        try:
            timeline_stores[old.store].remove_epoch(old.number)
        except (ImproperlyConfigured, ImportError, RedisError) as error:
            self.stderr.write(f"the timelines before stay in the store {old.store!r}: {error}")
        self.stdout.write(f"the timelines are in the store {store.alias!r} from now on")
