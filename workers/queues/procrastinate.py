"""Procrastinate, whose jobs are rows of PostgreSQL."""

from collections.abc import Sequence
from typing import Any

from asgiref.sync import async_to_sync
from procrastinate.contrib.django import app

from workers.queues.base import Command, Queue, manage
from workers.tasks import carry_out

call = app.task(name="carry_out")(carry_out)


class Procrastinate(Queue):
    """Procrastinate, with jobs of dead workers looked for at each sweep."""

    is_at_least_once = True
    is_transactional = True
    needs_postgresql = True
    needs_supervisor = True

    def send(self, task: str, arguments: Sequence[Any]) -> None:
        call.defer(task=task, arguments=list(arguments))

    def commands(self, processes: int) -> list[Command]:
        options = ("--concurrency=1", "--delete-jobs=always")
        return [manage("procrastinate", "worker", *options)] * processes

    def held(self) -> int:
        return sum(int(queue["todo"] + queue["doing"]) for queue in app.job_manager.list_queues())

    def tidy(self) -> None:
        async_to_sync(_retry_stalled)()


async def _retry_stalled() -> None:
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.retry_job(job)


class ProcrastinateDefaults(Procrastinate):
    """Procrastinate as it comes: jobs of dead workers are never run."""

    is_at_least_once = False

    def tidy(self) -> None:
        """Leave them."""
