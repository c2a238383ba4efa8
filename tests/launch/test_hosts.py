"""Hosts on one machine: reached by address only, cut off, and gone when a run ends."""

import sys
from socket import create_connection
from urllib.parse import urlsplit

import psutil
import pytest

from launch.hosts import OnHosts, ip, unavailable
from launch.processes import RunFailed
from launch.service import Seed, Service
from launch.variants import Variant

PORT = 8000
SERVE = (sys.executable, "-m", "http.server", str(PORT), "--bind")


@pytest.fixture
def hosts(tmp_path):
    """Hosts; where there can be none, what says why is tested instead."""
    processes = OnHosts(tmp_path / "logs")
    if reason := unavailable():
        with pytest.raises(RunFailed, match=reason), processes:
            pass
        pytest.xfail(reason)
    with processes:
        yield processes
    assert not [name for name in psutil.net_if_addrs() if name.startswith(processes.bridge)]


def answers(processes, host):
    try:
        create_connection((processes.address(host), PORT), timeout=0.5).close()
    except OSError:
        return False
    return True


def test_a_host_is_reached_by_its_address_until_it_is_cut_off(hosts):
    hosts.start("one", [*SERVE, hosts.address("one")], {})
    hosts.wait_until("one", lambda: answers(hosts, "one"))

    with hosts.cut_off("one"):
        assert not answers(hosts, "one")

    hosts.wait_until("one", lambda: answers(hosts, "one"))


def test_hosts_reach_each_other_and_share_no_ports(hosts):
    for role in ("one", "other"):
        hosts.start(role, [*SERVE, "0.0.0.0"], {})
    hosts.wait_until("one", lambda: answers(hosts, "one") and answers(hosts, "other"))

    url = f"http://{hosts.address('one')}:{PORT}"
    fetch = f"from urllib.request import urlopen; urlopen('{url}', timeout=20)"
    fetched = hosts.start("other", [sys.executable, "-c", fetch], {})

    assert fetched.wait(30) == 0


def test_processes_of_a_role_may_have_hosts_of_their_own(hosts):
    assert hosts.address("workers") == hosts.address("workers")
    assert hosts.address("workers") != hosts.address("workers2")


@pytest.mark.parametrize("database", ["mysql", "postgres"])
def test_a_service_runs_on_hosts(database, hosts, tmp_path):
    service = Service(Variant.named(f"{database}_tuned-outbox-ring@hosts"), hosts, tmp_path)
    service.prepare(Seed(people=10, friends=4))
    service.start()

    urls = [service.environments[0][name] for name in ("DATABASE_URL", "REDIS_URL")]
    addresses = {urlsplit(url).hostname for url in (service.url, *urls)}
    assert len(addresses) == 3
    assert "127.0.0.1" not in addresses


def test_a_machine_that_uses_such_addresses_has_no_hosts(hosts, tmp_path):
    ip("link", "add", "taken", "type", "bridge")
    try:
        ip("address", "add", "198.19.255.1/32", "dev", "taken")
        with pytest.raises(RunFailed, match=r"taken of this machine has the address 198\.19"):
            OnHosts(tmp_path / "others").__enter__()
    finally:
        ip("link", "delete", "taken")
