import csv
from contextlib import ExitStack
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest

from lab.faults.running import serving, wait_for
from launch.service import Seed, is_ready
from tests.locustfiles.load import serving as small_service


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """Two services that run at the same time, with the same people."""
    folders = [tmp_path_factory.mktemp("service") for _ in range(2)]
    with ExitStack() as stack:
        yield [
            stack.enter_context(small_service("sqlite-inline-setbased", it, people=3, friends=2))
            for it in folders
        ]


def status_of_feed(service, token):
    asked = Request(f"{service.url}/v1/feed/", headers={"Authorization": f"Bearer {token}"})
    try:
        with urlopen(asked, timeout=20) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


def test_a_service_accepts_its_own_tokens_and_not_those_of_another_one(services):
    tokens = [
        next(csv.DictReader(service.tokens.read_text().splitlines()))["token"]
        for service in services
    ]

    found = [[status_of_feed(service, token) for token in tokens] for service in services]
    assert found == [[200, 401], [401, 200]]


def test_behind_the_proxy_deliveries_arrive_and_slow_requests_give_way(tmp_path):
    variant = "sqlite-outbox-setbased@granian+proxy"
    with serving(variant, tmp_path, seed=Seed(people=20, friends=10)) as running:
        with running.load(clients=2):
            wait_for(lambda: len(running.accepted) > 50, within_s=60)
        app_servers = map(psutil.Process, running.processes.pids("web"))
        niceness = sorted(it.nice() for it in app_servers)
        assert is_ready(running.service.port)

        assert running.service.audit(running.drained())["ok"]

    assert niceness[0] < niceness[-1]
