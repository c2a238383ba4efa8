from typing import Any

from django.core.management import BaseCommand

from replays.export.app.services import make_next_export, remove_expired_exports
from workers.drainer import Drainer

IDLE_S = 0.1


class Command(BaseCommand):
    help = "Make ordered exports, one after the other, until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        drainer = Drainer(work=_make_one, batch=1, idle_s=IDLE_S, linger_s=0)
        drainer.stop_on_signals()
        drainer.run()


def _make_one(limit: int) -> int:
    remove_expired_exports()
    return int(make_next_export())
