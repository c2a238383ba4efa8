from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.models import Person

MOST_ATTEMPTS = 3


class ExportJobQuerySet(models.QuerySet["ExportJob"]):
    def unfinished(self) -> "ExportJobQuerySet":
        return self.filter(finished_at=None, attempts__lte=MOST_ATTEMPTS)

    def finished(self) -> "ExportJobQuerySet":
        """Jobs that are ready or were given up."""
        return self.exclude(finished_at=None, attempts__lte=MOST_ATTEMPTS)


class ExportJob(models.Model):
    """An ordered export, with the lease of its worker."""

    person = models.ForeignKey(Person, models.CASCADE, related_name="+")
    format = models.CharField(max_length=4)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    claimed_at = models.DateTimeField(null=True, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    """Claims so far; beyond MOST_ATTEMPTS the job is given up."""
    finished_at = models.DateTimeField(null=True, editable=False)
    """When the file was complete; None until then."""

    objects: ClassVar[ExportJobQuerySet] = ExportJobQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [models.Index(fields=["finished_at"], name="export_backlog")]

    @property
    def state(self) -> str:
        if self.finished_at:
            return "ready"
        return "failed" if self.attempts > MOST_ATTEMPTS else "waiting"
