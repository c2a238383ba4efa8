"""Private servers, and those that somebody else runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import redis

from lab.processes import Processes, RunFailed
from lab.servers import LAUNCHERS, MySQL, RabbitMQ, Redis
from lab.servers.launchers import docker_answers

SMALL = ["--users=20", "--people=100", "--friends=20", "--run-time=1s"]


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        yield processes


@pytest.fixture(scope="module")
def somebodys(tmp_path_factory):
    """Where somebody else runs servers."""
    folder = tmp_path_factory.mktemp("somebody")
    with Processes(folder / "logs") as processes:
        yield processes, folder


@pytest.fixture(scope="module")
def mysql(somebodys):
    processes, folder = somebodys
    server = MySQL(processes, folder / "mysql", LAUNCHERS["local"], profile="tuned.cnf")
    server.start()
    return server


@pytest.fixture(scope="module")
def redis_server(somebodys):
    processes, folder = somebodys
    server = Redis(processes, folder / "redis", LAUNCHERS["local"])
    server.start()
    return server


def test_rabbitmq_answers_and_leaves_nothing_behind(tmp_path):
    others = psutil.Process().children(recursive=True)
    with Processes(tmp_path / "logs") as processes:
        server = RabbitMQ(processes, tmp_path / "rabbitmq", LAUNCHERS["local"])
        server.start()
        mine = [p for p in psutil.Process().children(recursive=True) if p not in others]

        assert re.fullmatch(r"RabbitMQ [\d.]+", server.version())
        assert processes.memory_mib()["broker"] > 10
        assert any("epmd" in process.name() for process in mine)

    _, alive = psutil.wait_procs(mine, timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_a_missing_binary_is_named_with_its_package(processes, tmp_path, monkeypatch):
    monkeypatch.setattr(Redis, "binaries", ("no-such-server",))
    server = Redis(processes, tmp_path / "redis", LAUNCHERS["auto"])

    with pytest.raises(RunFailed, match=r"no-such-server is not installed.*redis-server"):
        server.start()


def test_docker_without_an_engine_is_refused(processes, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    server = Redis(processes, tmp_path / "redis", LAUNCHERS["docker"])

    assert not docker_answers()
    with pytest.raises(RunFailed, match="no Docker engine answers"):
        server.start()


def test_containers_are_those_of_compose():
    compose = Path("compose/compose.yaml").read_text()

    assert all(f"image: {server.image}\n" in compose for server in (MySQL, RabbitMQ, Redis))


@pytest.fixture
def external(mysql, redis_server):
    """What the user of --servers external sets; REDIS_URL and BROKER_URL come from Redis alone."""
    return mysql.environment | redis_server.environment


def laboratory(tmp_path, environment, variant="mysql_tuned-task-ring"):
    arguments = [f"--variants={variant}", *SMALL, "--servers=external", f"--out={tmp_path}/out"]
    done = subprocess.run(
        [sys.executable, "-m", "lab", "run", "fanout", "--shared", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    (path,) = (tmp_path / "out").glob("*/result.json")
    return done, json.loads(path.read_text())


def test_external_servers_serve_a_run_and_are_left_as_they_were(tmp_path, external, mysql):
    done, result = laboratory(tmp_path, external)

    assert done.returncode == 0, done.stderr
    assert result["audit"]["ok"]
    assert all("(external)" in version for version in result["environment"]["servers"].values())
    with mysql.connect() as connection:
        cursor = connection.cursor()
        assert cursor.execute("SHOW DATABASES LIKE 'feed_lab%'") == 0
    for name in ("REDIS_URL", "BROKER_URL"):
        assert redis.Redis.from_url(external[name]).dbsize() == 0


def test_an_external_redis_with_something_in_it_is_refused_and_kept(tmp_path, external):
    client = redis.Redis.from_url(external["REDIS_URL"])
    client.set("mine", "dear to me")

    done, result = laboratory(tmp_path, external)

    assert done.returncode == 1
    assert "has to name an empty database" in result["errors"][0]
    assert client.getdel("mine") == b"dear to me"


def test_an_external_database_with_another_profile_is_refused(tmp_path, external):
    done, result = laboratory(tmp_path, external, variant="mysql_default-inline-setbased")

    assert done.returncode == 1
    assert "max_connections is 1000, not 150" in result["errors"][0]


def test_external_servers_have_to_be_named(tmp_path):
    done, result = laboratory(tmp_path, {"DATABASE_URL": ""}, "mysql_tuned-inline-setbased")

    assert done.returncode == 1
    assert "needs DATABASE_URL=mysql://" in result["errors"][0]
