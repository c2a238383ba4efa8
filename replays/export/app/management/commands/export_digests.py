import csv
import hashlib
from typing import Any

from django.core.management import BaseCommand

from accounts.models import Person
from feed.due import posts_due


class Command(BaseCommand):
    help = (
        "List what every person's export must hold, as CSV: person_id, rows, and the SHA-256 "
        "of the posts' ids in order, a line each."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = csv.writer(self.stdout, lineterminator="\n")
        rows.writerow(("person_id", "rows", "sha256"))
        for person_id in Person.objects.order_by("id").values_list("id", flat=True):
            ids = list(posts_due(person_id).live().order_by("id").values_list("id", flat=True))
            lines = "".join(f"{post_id}\n" for post_id in ids)
            rows.writerow((person_id, len(ids), hashlib.sha256(lines.encode()).hexdigest()))
