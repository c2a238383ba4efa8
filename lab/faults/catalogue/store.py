"""Another store is chosen while everything goes on."""

import random
import sys
import time
from dataclasses import replace
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running, wait_for
from launch.service import app_server
from launch.variants import Variant

NEXT = {"ring": "log", "log": "setbased", "setbased": "ring"}
NEW = ("web of the new store", "workers of the new store")


class Switched(Fault):
    name = "store-switched"
    text = (
        "Another store is chosen, as documented: processes of both serve and deliver for a while."
    )
    safeguard = "epochs"
    at_stake = "posts meanwhile"
    needs_redis: ClassVar[bool] = True
    needs_drainer: ClassVar[bool] = True
    hides_answers: ClassVar[bool] = True

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and variant.store in NEXT

    def inject(self, running: Running, readers: Readers) -> int:
        service, processes, began = running.service, running.processes, time.monotonic()
        service.variant = replace(service.variant, store=NEXT[service.variant.store])
        (env,) = service.environments
        web, workers = NEW
        processes.start(web, app_server(service.port, service.address), env)
        processes.start(workers, [sys.executable, "manage.py", "drain"], env)
        wait_for(lambda: len(running.workers_of(web)) > 1)
        time.sleep(random.uniform(2, 3))  # noqa: S311
        service.manage("begin_epoch", env)
        time.sleep(random.uniform(0, 1))  # noqa: S311
        service.stop_web()
        service.stop_workers()
        # Under their usual names, so that it can happen again.
        processes.start("web", app_server(service.port, service.address), env)
        service.start_workers()
        wait_for(lambda: len(running.workers_of("web")) > 1)
        for role in NEW:
            processes.stop(role)
        return running.accepted_between(began, time.monotonic())
