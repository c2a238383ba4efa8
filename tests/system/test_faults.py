"""Faults of the catalogue, at a moment under load, while readers compare every page.

``make test`` tries those below; ``FAULTS_MOMENTS=1`` tries all on all variants that they suit, and
every control, which takes over 20 minutes.
"""

import json
import os
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest
from amqp.exceptions import NotFound, PreconditionFailed

from lab.experiments import EXPERIMENTS
from lab.experiments.faults.figures import audit_of
from lab.faults.catalogue import FAULTS
from lab.faults.celery import QUEUE, channel
from lab.faults.fault import with_celery
from lab.faults.moments import does_harm, observe
from lab.faults.redis import FROZEN_S, redis_of
from lab.faults.running import audit_pages, serving, wait_for

pytestmark = pytest.mark.faults

TRIED = {
    "mysql_tuned-outbox-ring": (
        "database-killed",
        "database-older-copy",
        "drainer-frozen",
        "drainer-killed",
        "friendships",
        "redis-emptied",
        "redis-frozen",
        "redis-killed",
        "redis-older-copy",
    ),
    "mysql_tuned-task-setbased": ("broker-killed",),
    "mysql_tuned-task-setbased@rabbitmq": ("celery-worker-killed",),
    "sqlite-inline-setbased": ("web-worker-killed",),
}
"""Of each kind of server the faults that lose something if a safeguard fails; of faults that only
delay, those below."""
CONTROLS_TRIED = ("markers", "new epochs")
TRIES_ALL = "FAULTS_MOMENTS" in os.environ
MOMENTS = int(os.environ.get("FAULTS_MOMENTS", "1"))
CONTROL_MOMENTS = 10
FAULTS_RUN = EXPERIMENTS["faults"]
VARIANTS = [
    *(name for name in FAULTS_RUN.variants if not FAULTS_RUN.variant(name).is_control),
    "sqlite-outbox-setbased",
    "sqlite-inline-setbased",
]
RABBITMQ = "mysql_tuned-task-setbased@rabbitmq"
ON_SQLITE = [
    ("sqlite-outbox-setbased", FAULTS["drainer-killed"]),
    ("sqlite-inline-setbased", FAULTS["web-worker-killed"]),
]


def variants_for(fault):
    """Return the first variant that a fault suits; all where it is about Celery."""
    suited = [name for name in VARIANTS if fault.suits(FAULTS_RUN.variant(name))]
    return suited if with_celery in fault.needs else suited[:1]


def control_of(name):
    return f"{name}{'+' if '@' in name else '@'}unguarded"


def is_tried(variant, fault):
    if TRIES_ALL:
        return variant in variants_for(fault) or (variant, fault) in ON_SQLITE
    return fault.name in TRIED.get(variant, ())


# By variant, so that the faults of each share a service.
CASES = [(name, it) for name in VARIANTS for it in FAULTS.values() if is_tried(name, it)]
BY_SAFEGUARD = {fault.safeguard: fault for fault in FAULTS.values() if fault.safeguard}
CONTROLS = sorted(
    (
        (control_of(variants_for(it)[0]), it)
        for it in BY_SAFEGUARD.values()
        if TRIES_ALL or it.safeguard in CONTROLS_TRIED
    ),
    key=lambda case: case[0],
)


def named(value):
    return value if isinstance(value, str) else value.name


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    """Return a function that returns the service of a variant; only the last one asked for runs."""
    served = {}
    with ExitStack() as services:

        def service_of(name):
            if name not in served:
                services.close()
                served.clear()
                folder = tmp_path_factory.mktemp("run")
                started = serving(FAULTS_RUN.variant(name), folder, clients=0)
                served[name] = services.enter_context(started)
            return served[name]

        yield service_of


def test_a_read_only_database_is_unready(serve):
    running = serve(VARIANTS[0])
    with closing(running.connect()) as admin:
        assert ready(running)[0] == 200
        admin.cursor().execute("SET GLOBAL read_only = 1")
        status, told = ready(running)
        admin.cursor().execute("SET GLOBAL read_only = 0")

        assert (status, told["database"]) == (503, "read-only")
        assert ready(running)[0] == 200


def ready(running):
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=60)) as connection:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(("variant", "fault"), CASES, ids=named)
def test_nothing_is_lost_and_every_page_is_whole(variant, fault, serve, tmp_path):
    if reason := fault.unavailable():
        pytest.skip(reason)

    running = serve(variant)
    seen = observe(fault, running, tmp_path, moments=MOMENTS)

    timelines = audit_pages(running.service, running.folder / "accepted.csv")
    found = audit_of(seen, timelines, fault)
    assert found["ok"], (found, seen)
    assert timelines["posts"] >= len(running.accepted)


def test_behind_a_proxy_probes_do_not_wait_for_a_frozen_database(serve, tmp_path):
    fault = FAULTS["database-frozen"]
    running = serve("mysql_tuned-outbox-ring@proxy")
    seen = observe(fault, running, tmp_path, moments=1)

    timelines = audit_pages(running.service, running.folder / "accepted.csv")
    assert audit_of(seen, timelines, fault)["ok"], seen
    assert seen.slowest_probe_s < 1


def make_whole(running):
    """Undo what the control before has spoiled: an absent timeline is right, and no post is due."""
    running.lack("")
    running.accepted.clear()
    if running.service.variant.store_flags.needs_redis:
        with redis_of(running) as redis:
            redis.flushall()


@pytest.mark.parametrize(("variant", "fault"), CONTROLS, ids=named)
def test_without_the_safeguard_it_does_harm(variant, fault, serve, tmp_path):
    if reason := fault.unavailable():
        pytest.skip(reason)
    running = serve(variant)
    make_whole(running)
    running.lack(fault.safeguard)

    seen = observe(fault, running, tmp_path, moments=CONTROL_MOMENTS, until_harm=True)

    assert does_harm(seen, fault), seen


def test_no_request_waits_for_a_frozen_broker(serve, tmp_path):
    seen = observe(FAULTS["broker-frozen"], serve(RABBITMQ), tmp_path, moments=1)

    assert seen.longest_s < FROZEN_S / 2


def test_rabbitmq_keeps_the_messages_in_a_quorum_queue(serve):
    running = serve(RABBITMQ)
    classic = {"x-queue-type": "classic"}
    wait_for(lambda: is_declared(running))  # by the worker

    with channel(running) as open_channel, pytest.raises(PreconditionFailed, match="quorum"):
        open_channel.queue_declare(QUEUE, durable=True, auto_delete=False, arguments=classic)


def is_declared(running):
    with channel(running) as open_channel:
        try:
            open_channel.queue_declare(QUEUE, passive=True)
        except NotFound:
            return False
        return True
