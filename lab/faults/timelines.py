"""Timelines change under load: friendships, deletions, another store."""

import random
import sys
import time
from contextlib import closing
from dataclasses import replace

from lab.faults.fault import fault, in_one_redis, with_cache, with_drainer
from lab.faults.readers import Readers, request
from lab.faults.running import Running, wait_for
from launch.service import app_server
from launch.variants import Variant

LASTS_S = 2.0
AUTHOR = 1
PAIR = (2, 1)
"""A reader and an author."""
NEXT_STORE = {"ring": "log", "log": "setbased", "setbased": "ring"}
WEB_ROLE, WORKERS_ROLE = "web of the new store", "workers of the new store"


@fault(
    "Two people end and begin a friendship as fast as they are answered, and one of them "
    "reads each time.",
    at_stake="changes",
    safeguard="seals",
    refuses=False,
)
def friendships(running: Running, readers: Readers) -> int:
    one, other = PAIR
    changes, until = 0, time.monotonic() + LASTS_S
    with closing(running.connection()) as http:
        while changes <= 10 or time.monotonic() < until:
            readers.leave(http, one, other)
            readers.read(http, one)
            readers.join(http, one, other)
            readers.read(http, one)
            changes += 2
    return changes


@fault(
    "Somebody writes posts and deletes them as fast as they are answered, and a friend reads "
    "before and after.",
    at_stake="deleted posts",
    safeguard="markers",
    control_needs=(with_cache,),
)
def deletes(running: Running, readers: Readers) -> int:
    friend, token = readers.reader_of(AUTHOR), running.tokens[AUTHOR - 1]
    deleted, until = 0, time.monotonic() + LASTS_S
    with closing(running.connection()) as http:
        while deleted <= 5 or time.monotonic() < until:
            status, post = running.ask(http, token, "POST", "/v1/posts/", '{"body": "wrong"}')
            if status != 201:
                continue
            readers.read(http, friend)  # so that it is in the cache, if it is delivered yet
            request(http, running, friend, "GET", f"/v1/posts/{post['id']}/")
            readers.delete(http, post)
            readers.read(http, friend)
            deleted += 1
    return deleted


def has_next_store(variant: Variant) -> bool:
    return variant.store in NEXT_STORE


@fault(
    "Another store is chosen, as documented: processes of both serve and deliver for a while.",
    at_stake="posts meanwhile",
    needs=(in_one_redis, with_drainer, has_next_store),
    safeguard="epochs",
    hides_answers=True,
)
def store_switched(running: Running, readers: Readers) -> int:
    service, processes, began = running.service, running.processes, time.monotonic()
    service.variant = replace(service.variant, store=NEXT_STORE[service.variant.store])
    (env,) = service.environments
    processes.start(WEB_ROLE, app_server(service.port, service.address), env)
    processes.start(WORKERS_ROLE, [sys.executable, "manage.py", "drain"], env)
    wait_for(lambda: len(running.workers_of(WEB_ROLE)) > 1)
    time.sleep(random.uniform(2, 3))  # noqa: S311
    service.manage("begin_epoch", env)
    time.sleep(random.uniform(0, 1))  # noqa: S311
    service.stop_web()
    service.stop_workers()
    # Under their usual names, so that it can happen again.
    processes.start("web", app_server(service.port, service.address), env)
    service.start_workers()
    wait_for(lambda: len(running.workers_of("web")) > 1)
    for role in (WEB_ROLE, WORKERS_ROLE):
        processes.stop(role)
    return running.accepted_between(began, time.monotonic())
