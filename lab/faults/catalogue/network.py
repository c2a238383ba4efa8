"""A host whose network is cut: nothing that it sends arrives, and nobody tells it."""

import sys
import time
from contextlib import AbstractContextManager
from typing import ClassVar

from lab.faults.catalogue.cluster import AWAY_S, PrimaryFrozen
from lab.faults.catalogue.drainer import DrainerFault
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for
from launch.hosts import OnHosts
from launch.servers.cluster import Node

CUT_S = 4.0
ANOTHER = "another drainer"


def cut_off(running: Running, host: str) -> AbstractContextManager[None]:
    assert isinstance(running.processes, OnHosts)
    return running.processes.cut_off(host)


class DrainerCutOff(DrainerFault):
    name = "drainer-cut-off"
    text = (
        f"The network of the drainer's host is cut for {CUT_S:g} s while posts are pending; "
        "another drainer starts on another host meanwhile."
    )
    no_control = "what the cut held up arrives when TCP sends it again, also if receipts come first"
    needs_hosts: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        (env,) = running.service.environments
        command = (sys.executable, "manage.py", "drain")
        with readers.held_up():
            in_flight = wait_for(lambda: running.query(PENDING))
            with cut_off(running, "workers"):
                time.sleep(CUT_S / 2)
                running.processes.start(ANOTHER, command, env)
                time.sleep(CUT_S / 2)
            running.processes.stop(ANOTHER)
            return in_flight


class PrimaryCutOff(PrimaryFrozen):
    name = "primary-cut-off"
    text = (
        f"The network of a primary's host is cut for {AWAY_S:g} s: its replica takes its "
        "place, and it learns of that when the network is back."
    )
    no_control = (
        "nobody who is cut off with it could write to it, and it learns at once what it became"
    )
    needs_hosts: ClassVar[bool] = True

    def away(self, running: Running, primary: Node) -> AbstractContextManager[None]:
        return cut_off(running, primary.role)
