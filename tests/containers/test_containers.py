"""compose.yaml on a real Docker engine: started, loaded, restarted, audited, removed.

Run it with make test-containers; its figures are in var/containers/transcript.md.
"""

import json
import time
from collections import Counter
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from tests.compose.project import SERVICES
from tests.containers.stack import TRANSCRIPT, Stack, docker, wait_until

pytestmark = [pytest.mark.alone, pytest.mark.containers]

SETTINGS = {
    "tuned": {},
    "PostgreSQL": {
        "COMPOSE_PROFILES": "postgres-tuned,redis,drainer",
        "DATABASE_URL": "postgres://feed:$DATABASE_PASSWORD@postgres-tuned:5432/feed",
    },
    "Celery": {
        "COMPOSE_PROFILES": "mysql-tuned,redis,rabbitmq,worker",
        "FEED_STRATEGY": "outbox_queue",
        "BROKER_URL": "amqp://feed:$BROKER_PASSWORD@rabbitmq:5672//",
    },
}
DRAINED = {"proxy": 1, "app": 4, "drainer": 1}
SCRAPED = {"tuned": DRAINED, "PostgreSQL": DRAINED, "Celery": {"proxy": 1, "app": 4, "worker": 1}}
RESTARTED = {
    "tuned": ["app", "drainer", "prometheus", "proxy", "redis", "mysql-tuned"],
    "PostgreSQL": ["drainer", "redis", "postgres-tuned"],
    "Celery": ["worker", "rabbitmq", "redis", "mysql-tuned"],
}
VERSIONS = {
    "mysql-tuned": ("mariadbd", "--version"),
    "postgres-tuned": ("postgres", "--version"),
    "redis": ("redis-server", "--version"),
    "rabbitmq": ("rabbitmqctl", "--silent", "version"),
    "proxy": ("haproxy", "-v"),
    "prometheus": ("prometheus", "--version"),
    "app": ("python", "--version"),
}
SETTLED_S = 4
"""Seconds after a restart until each request has to succeed: HAProxy asks DNS once per second."""
REFUSED = {"CatchResponseError('status 503')"}
"""What Locust may count: on a busy machine there is no room for 100 users who begin at once."""
LEAST_ACCEPTED = 0.5
GOOD = {("GET", 200), ("POST", 201)}


@pytest.fixture(scope="module")
def transcript():
    TRANSCRIPT.write_text("| containers | what | result |\n|---|---|---|\n")


@pytest.fixture(scope="module", params=SETTINGS)
def stack(request, transcript, tmp_path_factory):
    stack = Stack(request.param, tmp_path_factory.mktemp("stack"), SETTINGS[request.param])
    try:
        stack.note("build", f"{stack.timed('build'):.0f} s")
        stack.note("up", f"{stack.timed('up', '--detach'):.0f} s")
        stack.compose("up", "--detach", "prometheus")  # its profile has Grafana too
        stack.wait_until_ready()
        stack.note("seed", f"{stack.timed('run', '--rm', 'seed'):.0f} s")
        yield stack
    finally:
        stack.compose("--profile=*", "down", "--volumes")


def test_versions(stack):
    for service, command in VERSIONS.items():
        if service in stack.compose("ps", "--services").split():
            version = stack.compose("exec", "--no-TTY", service, *command).splitlines()[0]
            stack.note(f"{SERVICES[service]['image']} ({service})", version)


def test_a_load_is_delivered(stack):
    found, accepted, errors = stack.load("--users=100", "--spawn-rate=100", "--run-time=20s")
    stack.note(
        "Locust, 100 users, 20 s",
        f"{accepted} posts accepted, {float(found['Requests/s']):.1f}/s, "
        f"{found['Failure Count']} refused, median {found['50%']} ms, p99 {found['99%']} ms",
    )
    counts, clean = stack.audit()
    stack.note("audit", counts)

    assert accepted >= LEAST_ACCEPTED * int(found["Request Count"])
    assert errors <= REFUSED
    assert clean, counts


def test_prometheus_scrapes_all(stack):
    def scraped():
        try:
            with urlopen(f"http://127.0.0.1:9090/api/v1/query?query={quote('up == 1')}") as answer:
                found = json.load(answer)["data"]["result"]
        except OSError:  # the engine accepts connections before Prometheus does
            found = []
        return Counter(it["metric"]["job"] for it in found)

    wait_until(lambda: scraped() == SCRAPED[stack.name], scraped, 60)


def test_a_restart_loses_no_post_and_ends(stack, subtests):
    for service in RESTARTED[stack.name]:
        with subtests.test(service):
            restart_under_load(stack, service)


def restart_under_load(stack, service):
    clients = stack.clients()
    with clients.working():
        time.sleep(2)
        began = time.monotonic()
        stack.compose("restart", service)
        stack.wait_until_ready()
        took = time.monotonic() - began
        time.sleep(SETTLED_S)
        answers, failures = clients.forget()
        time.sleep(3)
    stack.posts |= clients.posts
    counts, clean = stack.audit()
    seen = ", ".join(f"{n} x {method} {status}" for (method, status), n in sorted(answers.items()))
    stack.note(
        f"restart of {service}",
        f"healthy after {took:.0f} s: {seen}, {len(failures)} unanswered; {counts}",
    )

    assert clients.answers.keys() == GOOD, clients.answers
    assert clients.failures == []
    assert clean, counts


def test_app_servers_that_say_so_are_replaced_without_a_failure(stack):
    clients = stack.clients()
    with clients.working():
        for number in (1, 2):
            stack.compose("exec", "--no-TTY", f"--index={number}", "app", "touch", "var/leaving")
            time.sleep(2)
            docker("restart", f"feed-fanout-app-{number}")
            stack.wait_until_ready()
            time.sleep(SETTLED_S)
    stack.posts |= clients.posts
    stack.note("app servers replaced in turn", f"{clients.answers.total()} requests")

    assert clients.answers.keys() == GOOD, clients.answers
    assert clients.failures == []


def test_down_leaves_nothing(stack):
    stack.note("down", f"{stack.timed('--profile=*', 'down', '--volumes'):.0f} s")

    assert docker("ps", "--all", "--quiet") == ""
    assert docker("volume", "ls", "--quiet") == ""
    assert docker("network", "ls", "--quiet", "--filter=type=custom") == ""
