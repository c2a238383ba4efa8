"""A drainer or a process of the app server dies in the middle of its work, or goes on too late."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing

from lab.faults.fault import drainer_delivers, fault, on_hosts, on_server, requests_deliver
from lab.faults.readers import PENDING, PENDING_IDS, Readers
from lab.faults.running import Running, freeze_when, kill_when, wait_for
from launch.hosts import OnHosts, unavailable

CLAIMED = "SELECT id, author_id FROM feed_post WHERE delivered_at IS NULL ORDER BY id LIMIT 5"
GOES_ON_S = 1.0
"""Time in which a process that goes on finishes what it was doing."""
STILL_S = 0.1
"""Longer than a delivery takes."""
CUT_S = 4.0
ANOTHER = "another drainer"


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


@fault(
    "The drainer is killed in its transaction, and another one starts.",
    at_stake="posts in flight",
    needs=(drainer_delivers,),
    safeguard="receipts",
    refuses=False,
)
def drainer_killed(running: Running, readers: Readers) -> int:
    kill_when(running, "workers", in_flight(running))
    lost = running.query(PENDING)
    running.replace_drainers()
    return lost


@fault(
    "The drainer is stopped in its transaction and loses its connection. Others deliver its "
    "posts, readers leave their authors, and it goes on.",
    at_stake="posts in flight",
    needs=(on_server, drainer_delivers),
    safeguard="seals",
    refuses=False,
)
def drainer_frozen(running: Running, readers: Readers) -> int:
    with closing(running.connection()) as http:
        zombie = freeze_when(running, "workers", in_flight(running))
        claimed = running.rows(CLAIMED)
        with running.without_clients():  # so that its posts are among those that are loaded
            for number in running.transactions(zombie):
                running.end_connection(number)
            running.service.start_workers()
            last = claimed[-1][0]
            wait_for(lambda: running.query(f"{PENDING} AND id <= {last}") == 0)
            authors = {author for _, author in claimed}
            pairs = [(readers.reader_of(author), author) for author in authors]
            for pair in pairs:
                readers.leave(http, *pair)
            for person in sum(pairs, ()):
                readers.read(http, person)  # and load the timeline
            os.kill(zombie, signal.SIGCONT)
        time.sleep(GOES_ON_S)
        for person in sum(pairs, ()):
            readers.read(http, person)
        running.replace_drainers()
    return len(claimed)


def cut_off(running: Running, host: str) -> AbstractContextManager[None]:
    """Cut the network of a host: nothing that it sends arrives, and nobody tells it."""
    assert isinstance(running.processes, OnHosts)
    return running.processes.cut_off(host)


@fault(
    f"The network of the drainer's host is cut for {CUT_S:g} s while posts are pending; "
    "another drainer starts on another host meanwhile.",
    at_stake="posts in flight",
    needs=(drainer_delivers, on_hosts),
    no_control="what the cut held up arrives when TCP sends it again, also if receipts come first",
    refuses=False,
    unavailable=unavailable,
)
def drainer_cut_off(running: Running, readers: Readers) -> int:
    (env,) = running.service.environments
    pending = wait_for(lambda: running.query(PENDING))
    with cut_off(running, "workers"):
        time.sleep(CUT_S / 2)
        running.processes.start(ANOTHER, (sys.executable, "manage.py", "drain"), env)
        time.sleep(CUT_S / 2)
    running.processes.stop(ANOTHER)
    return pending


@fault(
    "A process of the app server is killed while it delivers in a request.",
    at_stake="posts in flight",
    needs=(requests_deliver,),
    safeguard="sweeps",
    hides_answers=True,
)
def web_worker_killed(running: Running, readers: Readers) -> int:
    # Where post and deliveries are one transaction, nothing is pending outside of it.
    pends = running.service.variant.drains
    hit = in_flight(running) if pends else running.in_transaction
    workers = len(running.workers_of("web"))
    killed = kill_when(running, "web", hit)
    lost = running.query(PENDING) if pends else 1
    while killed in (now := running.workers_of("web")) or len(now) < workers:
        time.sleep(0.01)  # gunicorn replaces it
    return lost
