"""Task queues: what a message costs, when many come and when none does."""

import time
from pathlib import Path

from lab.experiments import fanout
from lab.experiments.base import Experiment, RunOptions
from lab.experiments.queues.presentation import PRESENTATION
from lab.progress import stage
from lab.results.result import Result
from lab.running.load import Load, OpenLoad, generate, warm_up_s
from launch.service import Seed, Service

POSTS_PER_S = 50
SETTLE_S = 10
"""Time in which workers start."""
IDLE_S = 10
"""Both at most as long as the load."""
TIMEOUT_S = 10


def loads(options: RunOptions) -> list[Load]:
    """Return a fixed rate of posts."""
    run_time_s, rate = options.run_time_s or 20, options.users or POSTS_PER_S
    load = OpenLoad(
        rate,
        run_time_s,
        warm_up_s=warm_up_s(run_time_s),
        patience_s=TIMEOUT_S,
        options={"posts-per-s": rate, "reads-per-s": 0},
    )
    return [load]


def generate_after_idling(load: Load, service: Service, folder: Path, result: Result) -> Load:
    """Record what the service uses while it is idle, and run the load."""
    settle_s, idle_s = (min(s, load.run_time_s) for s in (SETTLE_S, IDLE_S))
    with stage("idle", settle_s + idle_s):
        time.sleep(settle_s)
        before = service.processes.cpu_s()
        time.sleep(idle_s)
        after = service.processes.cpu_s()
    for role, used_s in after.items():
        result.extra[f"idle_{role}"] = 1000 * (used_s - before[role]) / idle_s
    return generate(load, service, folder, result)


EXPERIMENT = Experiment(
    name="queues",
    variants=(
        "mysql_tuned-task-setbased@celery",
        "mysql_tuned-task-setbased@celery+rabbitmq",
        "mysql_tuned-task-setbased@dramatiq",
        "mysql_tuned-task-setbased@dramatiq+rabbitmq",
        "mysql_tuned-task-setbased@huey",
        "mysql_tuned-task-setbased@django_tasks",
        "postgres_tuned-task-setbased@celery",
        "postgres_tuned-task-setbased@django_tasks",
        "postgres_tuned-task-setbased@procrastinate",
        "mysql_tuned-outbox_queue-setbased@celery",
        "mysql_tuned-outbox_queue-setbased@dramatiq",
        "mysql_tuned-outbox_queue-setbased@huey",
        "mysql_tuned-outbox_queue-setbased@django_tasks",
        "postgres_tuned-outbox_queue-setbased@procrastinate",
        "mysql_tuned-outbox-setbased",
        "postgres_tuned-outbox-setbased",
    ),
    seed=Seed(friends=50),
    loads=loads,
    generate=generate_after_idling,
    conclude=fanout.conclude,
    presentation=PRESENTATION,
    drain_within_s=60,
    around_s=45,
)
