"""Task queues: what a message costs, when many come and when none does."""

import json
import time
from pathlib import Path

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.queues.presentation import PRESENTATION
from lab.progress import stage
from lab.running.load import Load, OpenLoad, generate, warm_up_s
from launch.service import Seed, Service

IDLE = "idle.json"
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


def generate_after_idling(load: Load, service: Service, folder: Path) -> Load:
    """Measure what the service uses while it is idle, leave that in IDLE, and run the load."""
    settle_s, idle_s = (min(s, load.run_time_s) for s in (SETTLE_S, IDLE_S))
    with stage("idle", settle_s + idle_s):
        time.sleep(settle_s)
        before = service.processes.cpu_s()
        time.sleep(idle_s)
        after = service.processes.cpu_s()
    used = {f"idle_{role}": 1000 * (s - before[role]) / idle_s for role, s in after.items()}
    (folder / IDLE).write_text(json.dumps(used) + "\n")
    return generate(load, service, folder)


def conclude(measured: Measured) -> None:
    measured.result.extra |= json.loads((measured.folder / IDLE).read_text())
    fanout.conclude(measured)


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
    conclude=conclude,
    presentation=PRESENTATION,
    drain_within_s=60,
    around_s=45,
)
