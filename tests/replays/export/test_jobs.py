"""Jobs run once, are claimed again after a worker's death, given up eventually, and removed."""

import sys
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from feed.follows import unfriend
from feed.statements import insert_post
from launch.processes import Processes
from replays.export.app import services
from replays.export.app.models import MOST_ATTEMPTS, ExportJob
from replays.export.app.selectors import Row
from tests.conftest import database_url, make_people

INSTALLED = {"DJANGO_SETTINGS_MODULE": "replays.export.settings"}


@pytest.fixture
def job(friends, folder):
    return services.order_export(person_id=1, file_format="csv")


def claimed_long_ago(job):
    ExportJob.objects.filter(id=job.id).update(claimed_at=Now() - 2 * services.LEASE)


def test_a_job_runs_once_and_a_claimed_one_when_its_lease_is_over(job, folder):
    ExportJob.objects.filter(id=job.id).update(claimed_at=Now() - services.LEASE / 2)
    assert not services.make_next_export()

    claimed_long_ago(job)
    assert services.make_next_export()
    assert not services.make_next_export()
    assert [path.name for path in folder.iterdir()] == [f"{job.id}.csv"]


def test_a_late_worker_and_the_next_one_mix_no_files(job, folder, monkeypatch):
    """The lease of the first one ends in the middle of its work."""
    posts = [insert_post(2, f"post {number}") for number in range(4)]
    rows = [Row(post.id, 2, post.created_at, post.body) for post in posts]

    def overtaken(person_id):
        yield rows[:1]
        claimed_long_ago(job)
        monkeypatch.setattr(services, "exported_rows", lambda _: [rows])
        assert services.make_next_export()
        yield rows[2:3]

    monkeypatch.setattr(services, "exported_rows", overtaken)
    services.make_next_export()

    (done,) = folder.iterdir()
    assert done.name == f"{job.id}.csv"
    written = [line.rpartition(",")[2] for line in done.read_text().splitlines()]
    assert written in (["body", "post 0", "post 2"], ["body", *(f"post {n}" for n in range(4))])


def test_only_the_services_user_reads_exports_and_drafts(job, folder, monkeypatch):
    modes = []

    def look(person_id):
        modes.extend(path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir()))
        yield []

    monkeypatch.setattr(services, "exported_rows", look)
    services.make_next_export()

    (done,) = folder.iterdir()
    assert [*modes, done.stat().st_mode & 0o777] == [0o700, 0o600, 0o600]


def test_a_job_that_always_fails_is_given_up(job, monkeypatch):
    def fail(person_id):
        raise OSError("disk full")

    monkeypatch.setattr(services, "exported_rows", fail)

    attempts = 0
    while services.make_next_export():
        attempts += 1

    job.refresh_from_db()
    assert attempts == MOST_ATTEMPTS
    assert job.state == "failed"
    assert services.order_export(person_id=1, file_format="csv").id != job.id


def test_a_job_that_kills_its_workers_is_given_up_and_goes_with_their_drafts(
    job, folder, monkeypatch
):
    def die(person_id):
        raise SystemExit

    monkeypatch.setattr(services, "exported_rows", die)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            services.make_next_export()
        claimed_long_ago(job)

    assert not services.make_next_export()
    job.refresh_from_db()
    assert job.state == "failed"
    assert len(list(folder.iterdir())) == MOST_ATTEMPTS
    services.remove_exports(1)
    assert list(folder.iterdir()) == []


def test_old_exports_are_removed_with_their_files(job, folder, settings):
    services.make_next_export()
    fresh = services.order_export(person_id=2, file_format="csv")
    services.make_next_export()
    age = timedelta(seconds=settings.EXPORT_KEEP_S + 1)
    ExportJob.objects.filter(id=job.id).update(created_at=Now() - age)

    services.remove_expired_exports()

    assert list(ExportJob.objects.values_list("id", flat=True)) == [fresh.id]
    assert [path.name for path in folder.iterdir()] == [f"{fresh.id}.csv"]


@pytest.mark.parametrize("pair", [(1, 2), (2, 1)])
def test_what_is_ready_does_not_outlive_a_friendship(job, folder, pair):
    services.make_next_export()
    assert list(folder.iterdir())

    unfriend(*pair)

    assert list(folder.iterdir()) == []
    assert not ExportJob.objects.exists()


def test_the_worker_makes_ordered_exports_and_stops_on_a_signal(transactional_db, folder, tmp_path):
    make_people(1)
    job = services.order_export(person_id=1, file_format="xlsx")
    environment = INSTALLED | {"DATABASE_URL": database_url(), "EXPORT_DIR": str(folder)}

    with Processes(tmp_path / "logs") as processes:
        command = [sys.executable, "manage.py", "make_exports"]
        worker = processes.start("workers", command, environment)
        processes.wait_until("workers", (folder / f"{job.id}.xlsx").exists)
        worker.terminate()
        assert worker.wait(timeout=10) == 0

    job.refresh_from_db()
    assert job.state == "ready"


def test_the_oldest_finished_jobs_of_a_person_make_room(friends, folder):
    def order(person_id=1):
        job = services.order_export(person_id=person_id, file_format="csv")
        services.make_next_export()
        return job

    other = order(2)
    first, *jobs = [order() for _ in range(services.MOST_JOBS + 1)]

    assert {job.id for job in ExportJob.objects.all()} == {other.id, *(job.id for job in jobs)}
    assert f"{first.id}.csv" not in {path.name for path in folder.iterdir()}
