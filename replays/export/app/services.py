"""Exports as jobs: a request orders one, a worker makes it, another request fetches it."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts import limits
from accounts.models import Person
from replays.export.app.expensive import give_back_connection
from replays.export.app.formats import FORMATS
from replays.export.app.models import MOST_ATTEMPTS, ExportJob
from replays.export.app.selectors import exported_rows

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=5)
"""A worker without a result after this time counts as dead."""
MOST_JOBS = 10


@contextmanager
def one_at_a_time(person_id: int) -> Iterator[None]:
    """Let a person make one export or report at a time, in all processes. Raises Limited."""
    with limits.lease(f"export of {person_id}", for_s=LEASE.total_seconds()):
        give_back_connection()
        yield


def order_export(*, person_id: int, file_format: str) -> ExportJob:
    """Return a new job, or the person's unfinished one. Raises Person.DoesNotExist.

    Their oldest finished jobs are removed, so that they have at most MOST_JOBS.
    """
    with transaction.atomic():
        person = Person.objects.select_for_update().get(id=person_id)
        own = ExportJob.objects.filter(person=person)
        job = own.unfinished().filter(format=file_format).first()
        surplus = [] if job else list(own.finished().order_by("-id")[MOST_JOBS - 1 :])
        job = job or ExportJob.objects.create(person=person, format=file_format)
    _remove(surplus)
    job.refresh_from_db()
    return job


def make_next_export() -> bool:
    """Claim a job and make its file; return whether there was one.

    The claim is a lease, not a lock: an export takes seconds, and on SQLite a lock would block
    all other writers. A job whose worker dies is claimed again, and given up after some attempts.
    """
    job = _claim()
    if job is None:
        return False
    try:
        _write_file(job)
    except Exception:
        logger.exception("export %s failed", job.id)
        ExportJob.objects.filter(id=job.id).update(claimed_at=None)
    else:
        if not ExportJob.objects.filter(id=job.id).update(finished_at=Now()):
            _path(job).unlink(missing_ok=True)  # it was withdrawn meanwhile
    return True


def remove_expired_exports() -> None:
    """Remove jobs that are older than EXPORT_KEEP_S, and their files."""
    age = timedelta(seconds=settings.EXPORT_KEEP_S)
    _remove(ExportJob.objects.filter(created_at__lt=Now() - age))


def remove_exports(person_id: int) -> None:
    """Remove all jobs of a person, and their files."""
    _remove(ExportJob.objects.filter(person_id=person_id))


def withdraw_exports(person_ids: Iterable[int]) -> None:
    """Remove these people's jobs that were begun: they may hold what is hidden since."""
    _remove(ExportJob.objects.filter(person_id__in=person_ids).exclude(claimed_at=None))


def export_file(job: ExportJob) -> Path:
    """Return the file of a job. Raises ExportJob.DoesNotExist unless it is ready."""
    if job.state != "ready":
        raise ExportJob.DoesNotExist
    return _path(job)


def _remove(jobs: Iterable[ExportJob]) -> None:
    for job in jobs:
        files = _path(job), *(_draft(job, attempt) for attempt in range(1, MOST_ATTEMPTS + 1))
        job.delete()  # a worker that finishes later finds no job, and removes its file
        for file in files:
            file.unlink(missing_ok=True)


def _claim() -> ExportJob | None:
    abandoned = Q(claimed_at=None) | Q(claimed_at__lt=Now() - LEASE)
    jobs = ExportJob.objects.unfinished().filter(abandoned).order_by("id")
    if not jobs.exists():
        return None  # avoid SQLite's write lock when there is no work
    with transaction.atomic():
        job = jobs.select_for_update(skip_locked=True).first()
        if job:
            claimed = ExportJob.objects.filter(id=job.id)
            claimed.update(claimed_at=Now(), attempts=F("attempts") + 1)
            job.refresh_from_db()
    return job if job and job.state == "waiting" else None


def _write_file(job: ExportJob) -> None:
    draft = _draft(job, job.attempts)
    draft.parent.mkdir(0o700, parents=True, exist_ok=True)
    draft.touch(0o600)
    with draft.open("wb") as file:
        for piece in FORMATS[job.format].write(exported_rows(job.person_id)):
            file.write(piece)
    draft.replace(_path(job))


def _path(job: ExportJob) -> Path:
    folder: Path = settings.EXPORT_DIR
    return folder / f"{job.id}.{job.format}"


def _draft(job: ExportJob, attempt: int) -> Path:
    """Return the file of one attempt: a worker whose lease is over may still write its own."""
    return _path(job).with_suffix(f".{attempt}.draft")
