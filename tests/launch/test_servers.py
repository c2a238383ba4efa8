"""Private servers, and external ones."""

import json
import re
from pathlib import Path

import psutil
import pytest
import redis

from launch.processes import Processes, RunFailed
from launch.servers import MySQL, PostgreSQL, RabbitMQ, Redis, base, servers_for
from launch.servers.base import installed
from launch.servers.redis import redis_name
from launch.variants import Variant
from tests.commands import python

SMALL = ["--users=20", "--people=100", "--friends=20", "--run-time=1s"]


@pytest.fixture
def processes(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        yield processes


@pytest.fixture(scope="module")
def somebodys(tmp_path_factory):
    """A folder with external servers."""
    folder = tmp_path_factory.mktemp("somebody")
    with Processes(folder / "logs") as processes:
        yield processes, folder


@pytest.fixture(scope="module")
def mysql(somebodys):
    processes, folder = somebodys
    server = MySQL(processes, folder / "mysql", "local", profile="tuned.cnf")
    server.start()
    return server


@pytest.fixture(scope="module")
def redis_server(somebodys):
    processes, folder = somebodys
    server = Redis(processes, folder / "redis", "local")
    server.start()
    return server


def test_rabbitmq_answers_and_leaves_nothing_behind(tmp_path):
    others = psutil.Process().children(recursive=True)
    with Processes(tmp_path / "logs") as processes:
        server = RabbitMQ(processes, tmp_path / "rabbitmq", "local")
        server.start()
        mine = [p for p in psutil.Process().children(recursive=True) if p not in others]

        assert re.fullmatch(r"RabbitMQ [\d.]+", server.version())
        assert processes.memory_mib()["broker"] > 10
        assert any("epmd" in process.name() for process in mine)

    _, alive = psutil.wait_procs(mine, timeout=20)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_valkey_is_not_called_redis():
    valkey = {"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "9.1.2"}

    assert redis_name(valkey) == "Valkey 9.1.2"
    assert redis_name({"redis_version": "7.0.15"}) == "Redis 7.0.15"


def program(path):
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


@pytest.fixture
def only(tmp_path, monkeypatch):
    """The only folder in which programs are found."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(base, "UNPACKED", folder)
    monkeypatch.setattr(base, "SBIN", str(folder))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("LAB_MYSQL", raising=False)
    return folder


def test_mariadb_is_used_unless_mysql_is_chosen_or_alone(only, monkeypatch):
    program(only / "mysqld")
    assert installed(MySQL) == str(only / "mysqld")

    program(only / "mariadbd")
    assert installed(MySQL) == str(only / "mariadbd")

    monkeypatch.setenv("LAB_MYSQL", "mysql")
    assert installed(MySQL) == str(only / "mysqld")


def test_mariadbs_link_named_mysqld_is_not_mysql(only, monkeypatch):
    program(only / "mariadbd")
    (only / "mysqld").symlink_to("mariadbd")
    monkeypatch.setenv("LAB_MYSQL", "mysql")

    with pytest.raises(RunFailed, match=r"LAB_MYSQL=mysql isn't installed: .*make mysql"):
        installed(MySQL)


def test_an_unknown_choice_is_refused_with_the_known_ones(monkeypatch):
    monkeypatch.setenv("LAB_REDIS", "memcached")

    with pytest.raises(RunFailed, match="LAB_REDIS=memcached is none of redis, valkey"):
        installed(Redis)


def test_containers_are_those_of_compose():
    compose = Path("compose/compose.yaml").read_text()

    images = {server.image for server in (MySQL, PostgreSQL, RabbitMQ, Redis)}
    assert all(f"image: {image}\n" in compose for image in images)


@pytest.fixture
def external(mysql, redis_server):
    """The environment for --servers external; REDIS_URL and BROKER_URL are one Redis."""
    return mysql.environment | redis_server.environment


def laboratory(out, environment, variant):
    arguments = [f"--variants={variant}", *SMALL, "--servers=external", f"--out={out}"]
    done = python("-m", "lab", "run", "fanout", "--shared", *arguments, **environment)
    (path,) = out.glob("*/result.json")
    return done, json.loads(path.read_text())


def test_external_servers_serve_a_run_and_are_not_changed(tmp_path, external, mysql):
    """All are taken as they are, by a user with one right."""

    def execute(sql):
        with mysql.connect() as connection:
            return connection.cursor().execute(sql)

    execute("CREATE USER runner@127.0.0.1 IDENTIFIED BY 'secret'")
    external["DATABASE_URL"] = f"mysql://runner:secret@127.0.0.1:{mysql.port}/feed"
    variant = "mysql_asis-task-ring"
    refused, result = laboratory(tmp_path / "refused", external, variant)
    assert refused.returncode == 1
    (right,) = re.findall("its user needs (GRANT .*@)…", result["errors"][0])
    execute(f"{right}127.0.0.1")

    done, result = laboratory(tmp_path / "out", external, variant)

    assert done.returncode == 0, done.stderr
    assert result["audit"]["ok"]
    versions = result["environment"]["servers"]
    assert all("(external" in version for version in versions.values())
    assert versions["database"].startswith(f"{mysql.version()} (external, ")
    assert "max_connections=1000" in versions["database"]
    assert result["cpu_s"]["database"] is None
    assert execute("SHOW DATABASES LIKE 'feedlab%'") == 0
    for name in ("REDIS_URL", "BROKER_URL"):
        assert redis.Redis.from_url(external[name]).dbsize() == 0


@pytest.mark.parametrize(
    ("variant", "wrong"),
    [
        ("mysql_tuned-task-ring", "has to name an empty database"),
        ("mysql_default-inline-setbased", "max_connections is 1000, not 150"),
    ],
)
def test_external_servers_that_do_not_fit_are_refused_and_not_changed(
    variant, wrong, processes, tmp_path, external, monkeypatch
):
    client = redis.Redis.from_url(external["REDIS_URL"])
    client.set("mine", "dear to me")
    for name, value in external.items():
        monkeypatch.setenv(name, value)

    def start():
        for server in servers_for(Variant.named(variant), "external", processes, tmp_path):
            server.start()

    with pytest.raises(RunFailed, match=wrong):
        start()
    assert client.getdel("mine") == b"dear to me"


def test_only_an_external_server_is_taken_as_it_is(processes, tmp_path):
    with pytest.raises(RunFailed, match="--servers external"):
        servers_for(Variant.named("mysql_asis-pull"), "auto", processes, tmp_path)
