"""A drainer that dies in the middle of a batch, or goes on too late."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.readers import LATEST_S, PENDING, Readers
from lab.faults.running import Running, freeze_when, kill_when, wait_for
from launch.variants import Variant

PENDING_IDS = "SELECT id FROM feed_post WHERE delivered_at IS NULL"
CLAIMED = "SELECT id, author_id FROM feed_post WHERE delivered_at IS NULL ORDER BY id LIMIT 5"
STILL_S = 0.1
"""Longer than a delivery takes."""


def in_flight(running: Running) -> Callable[[int], bool]:
    """Return what tells whether a stopped process is in its transaction, with posts to deliver.

    They are posts that are accepted from now on, and that nobody else delivers meanwhile.
    """
    newest = running.query("SELECT max(id) FROM feed_post")
    claimed = f"{PENDING_IDS} AND id > {newest}"

    def hit(pid: int) -> bool:
        if not running.in_transaction(pid):
            return False
        found = running.rows(claimed)
        time.sleep(STILL_S)
        return not set(found).isdisjoint(running.rows(claimed))

    return hit


class DrainerFault(Fault):
    at_stake = "posts in flight"
    needs_drainer: ClassVar[bool] = True
    refuses: ClassVar[bool] = False

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and not variant.strategy_flags.writes_with_post


class Killed(DrainerFault):
    name = "drainer-killed"
    text = "The drainer is killed in its transaction, and another one starts."
    safeguard = "receipts"

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            kill_when(lambda: running.workers_of("workers"), in_flight(running))
            lost = running.query(PENDING)
            running.replace_drainers()
        return lost


class OutlivesItsClaim(DrainerFault):
    name = "drainer-frozen"
    text = (
        "The drainer is stopped in its transaction and loses its connection. Others deliver its "
        "posts, their authors end friendships, and it goes on."
    )
    safeguard = "seals"
    needs_mysql: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(readers.connection()) as http:
            zombie = freeze_when(lambda: running.workers_of("workers"), in_flight(running))
            claimed = running.rows(CLAIMED)
            with running.without_clients():  # so that its posts are among those that are loaded
                for number in running.transactions(zombie):
                    running.end_connection(number)
                running.service.start_workers()
                last = claimed[-1][0]
                wait_for(lambda: running.query(f"{PENDING} AND id <= {last}") == 0)
                pairs = [(it, min(readers.friends[it])) for it in {it[1] for it in claimed}]
                for pair in pairs:
                    readers.unfriend(http, *pair)
                for person in sum(pairs, ()):
                    readers.read(http, person)  # and load the timeline
                os.kill(zombie, signal.SIGCONT)
            time.sleep(LATEST_S / 2)
            for person in sum(pairs, ()):
                readers.read(http, person)
            running.replace_drainers()
        return len(claimed)
