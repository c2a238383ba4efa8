"""The primary and its replicas have the settings of the laboratory's, which the tests run."""

import shlex
from urllib.parse import urlsplit

import pytest

from launch.servers.replicas import REPLICATED, REPLICATING
from tests.compose.project import SERVICES, WITH_REPLICAS, dependencies, profiles

PRIMARY = "mysql-primary"
REPLICAS = [name for name in SERVICES if name.startswith("mysql-replica")]
each_replica = pytest.mark.parametrize("name", REPLICAS)


def options(name):
    return shlex.split(SERVICES[name]["command"])


def mounts(name):
    return dict(mount.split(":")[1::-1] for mount in SERVICES[name]["volumes"])


def test_every_server_has_its_own_id():
    assert options(PRIMARY) == [*REPLICATED]
    for number, name in enumerate(REPLICAS, start=2):
        assert options(name) == [f"--server-id={number}", *REPLICATING]


@each_replica
def test_the_image_makes_a_replica_of_the_primary(name):
    """It runs CHANGE MASTER with these, and with slave_pos, MariaDB's default."""
    replica, primary = SERVICES[name]["environment"], SERVICES[PRIMARY]["environment"]

    assert replica["MARIADB_MASTER_HOST"] == PRIMARY
    for variable in ("MARIADB_REPLICATION_USER", "MARIADB_REPLICATION_PASSWORD"):
        assert replica[variable] == primary[variable]
    # The service's user comes from the primary; to create it twice would stop the replication.
    assert "MARIADB_USER" not in replica
    assert all("initdb" not in mount for mount in mounts(name))


def test_all_servers_have_the_tuned_profile():
    files = {mounts(name)["/etc/mysql/conf.d/feed.cnf"] for name in (PRIMARY, *REPLICAS)}

    assert files == {"./mysql/tuned.cnf"}


@each_replica
def test_a_replica_starts_after_its_primary_and_is_healthy_when_it_has_caught_up(name):
    check = SERVICES[name]["healthcheck"]["test"]

    assert dependencies(name) == {PRIMARY: {"condition": "service_healthy"}}
    assert check[-1] == "--replication"  # applies to the options before it
    assert {"--replication_io", "--replication_sql"} < set(check)
    # Without the grant the check may not read the status.
    assert SERVICES[name]["environment"]["MARIADB_HEALTHCHECK_GRANTS"] == "REPLICA MONITOR"


def test_the_service_waits_for_the_chosen_servers():
    chosen = {"condition": "service_healthy", "required": False}

    assert dependencies("migrate")[PRIMARY] == chosen
    assert all(dependencies("app")[name] == chosen for name in REPLICAS)


def test_the_example_names_the_primary_and_every_replica():
    hosts = [urlsplit(url).hostname for url in WITH_REPLICAS["REPLICA_URLS"].split(",")]

    assert urlsplit(WITH_REPLICAS["DATABASE_URL"]).hostname == PRIMARY
    assert hosts == REPLICAS
    assert profiles(PRIMARY) < set(WITH_REPLICAS["COMPOSE_PROFILES"].split(","))
