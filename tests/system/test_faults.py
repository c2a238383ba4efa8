"""Faults of each kind, at a moment under load, while readers compare every page.

``lab run faults`` tries the whole catalogue, with every control.
"""

from contextlib import ExitStack, closing

import pytest
from amqp import Connection
from amqp.exceptions import NotFound, PreconditionFailed

from lab.experiments import EXPERIMENTS
from lab.experiments.faults.figures import audit_of
from lab.faults.catalogue import FAULTS
from lab.faults.moments import does_harm, observe
from lab.faults.redis import FROZEN_S, redis_of
from lab.faults.running import audit_pages, serving, wait_for

pytestmark = pytest.mark.faults

OUTBOX = "mysql_tuned-outbox-ring"
CELERY = "mysql_tuned-task-setbased"
POSTGRES = "postgres_default-outbox-ring@follows"
RABBITMQ = "mysql_tuned-task-setbased@rabbitmq"
# By variant, so that the faults of each share a service.
TRIED = [
    (OUTBOX, "connections-taken"),
    (OUTBOX, "database-killed"),
    (OUTBOX, "database-older-copy"),
    (OUTBOX, "drainer-frozen"),
    (OUTBOX, "friendships"),
    (OUTBOX, "redis-frozen"),
    (OUTBOX, "redis-killed"),
    (POSTGRES, "connections-taken"),
    (POSTGRES, "database-killed"),
    (POSTGRES, "drainer-frozen"),
    (POSTGRES, "friendships"),
    (POSTGRES, "slow-disk"),
    (CELERY, "broker-killed"),
    (RABBITMQ, "queue-worker-killed"),
]
SLOW = [(OUTBOX, "slow-redis"), (POSTGRES, "slow-database"), (RABBITMQ, "slow-broker")]
UNGUARDED = f"{OUTBOX}@stream+unguarded"
CONTROLS = ["connections-taken", "deletes", "redis-older-copy"]
CONTROL_MOMENTS = 10


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    """Return a function that returns the service of a variant; only the last one asked for runs."""
    served = {}
    with ExitStack() as services:

        def service_of(name):
            if name not in served:
                services.close()
                served.clear()
                started = serving(
                    EXPERIMENTS["faults"].variant(name), tmp_path_factory.mktemp("run")
                )
                served[name] = services.enter_context(started)
            return served[name]

        yield service_of


def observed(fault, running, folder, moments=1):
    """Let a fault happen; assert that it did no harm, and return what was seen.

    Tests run side by side, so that times prove nothing here: ``lab run faults`` judges them.
    """
    seen = observe(fault, running, folder, moments=moments)
    timelines = audit_pages(running.service, running.folder / "accepted.csv")
    found = audit_of(seen, timelines, fault, is_busy=True)
    assert found["ok"], (found, seen)
    assert running.accepted[-1][0] > seen.moments[-1].mended_at
    assert timelines["posts"] >= len(running.accepted)
    return seen


def test_a_read_only_database_is_unready(serve):
    running = serve(OUTBOX)
    with closing(running.connect()) as admin:
        assert ready(running)[0] == 200
        admin.cursor().execute("SET GLOBAL read_only = 1")
        status, answer = ready(running)
        admin.cursor().execute("SET GLOBAL read_only = 0")

        assert (status, answer["database"]) == (503, "read-only")
        assert ready(running)[0] == 200


def ready(running):
    with closing(running.connection(60)) as http:
        return running.ask(http, "", "GET", "/readyz", None)


@pytest.mark.parametrize(("variant", "name"), TRIED)
def test_nothing_is_lost_and_every_page_is_whole(variant, name, serve, tmp_path):
    observed(FAULTS[name], serve(variant), tmp_path)


@pytest.mark.parametrize(("variant", "name"), SLOW)
def test_no_slowness_that_breaks_connections_loses_anything(variant, name, serve, tmp_path):
    """A moment of each of the two kinds that have found errors."""
    observed(FAULTS[name], serve(variant), tmp_path, moments=2)


def test_no_request_waits_for_a_frozen_broker(serve, tmp_path):
    seen = observed(FAULTS["broker-frozen"], serve(RABBITMQ), tmp_path)

    assert seen.longest_s < FROZEN_S / 2


def test_rabbitmq_keeps_the_messages_in_a_quorum_queue(serve):
    broker = serve(RABBITMQ).service.environments[0]["BROKER_URL"]
    classic = {"x-queue-type": "classic"}
    with Connection(broker.rpartition("@")[2].rstrip("/")) as connection:
        wait_for(lambda: is_declared(connection))  # by the worker

        with pytest.raises(PreconditionFailed, match="quorum"):
            connection.channel().queue_declare(
                "celery", durable=True, auto_delete=False, arguments=classic
            )


def is_declared(connection):
    try:
        connection.channel().queue_declare("celery", passive=True)
    except NotFound:
        return False
    return True


def test_behind_a_proxy_probes_do_not_wait_for_a_frozen_database(serve, tmp_path):
    seen = observed(FAULTS["database-frozen"], serve(f"{OUTBOX}@proxy"), tmp_path)

    assert seen.slowest_probe_s < 1


@pytest.mark.parametrize("name", CONTROLS)
def test_without_the_safeguard_it_does_harm(name, serve, tmp_path):
    fault, running = FAULTS[name], serve(UNGUARDED)
    make_whole(running)
    running.lack(fault.safeguard)

    seen = observe(fault, running, tmp_path, moments=CONTROL_MOMENTS, until_harm=True)

    assert does_harm(seen, fault), seen


def test_streams_lack_nothing_after_a_kill_unless_their_positions_are_ignored(serve, tmp_path):
    fault, running = FAULTS["stream-killed"], serve(UNGUARDED)
    make_whole(running)
    observed(fault, running, tmp_path)
    running.lack(fault.safeguard)

    assert observe(fault, running, tmp_path, moments=1).streamed["unseen"] > 0


def make_whole(running):
    """Undo what the control before has spoiled: an absent timeline is right, and no post is due."""
    running.lack("")
    running.accepted.clear()
    with redis_of(running) as redis:
        redis.flushall()
