"""Django's tasks (``django.tasks``, here its backport) with the workers of django-tasks-db."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.management import call_command
from django_tasks import TaskResultStatus, task

from workers.queues.base import Command, Queue, manage
from workers.tasks import carry_out

FINISHED = (TaskResultStatus.SUCCESSFUL, TaskResultStatus.FAILED)


@task()
def call(name: str, arguments: list[Any]) -> None:
    carry_out(name, arguments)


class DjangoTasks(Queue):
    """Django's tasks in the database: one whose worker dies is RUNNING for ever."""

    is_transactional = True
    needs_supervisor = True
    worker_options: ClassVar[Sequence[str]] = ("--interval=0.1",)

    def send(self, task: str, arguments: Sequence[Any]) -> None:
        call.enqueue(task, list(arguments))

    def commands(self, processes: int) -> list[Command]:
        return [manage("db_worker", "--verbosity=0", *self.worker_options)] * processes

    def held(self) -> int:
        from django_tasks_db.models import DBTaskResult  # noqa: PLC0415  if the app is installed

        return int(DBTaskResult.objects.exclude(status__in=FINISHED).count())

    def tidy(self) -> None:
        call_command("prune_db_task_results", min_age_days=0, verbosity=0)


class DjangoTasksDefaults(DjangoTasks):
    """Django's tasks as they come: idle workers look once per second."""

    worker_options = ()
