"""The profiles of compose/postgresql on an installed server, which is killed and started again."""

import os
import re
import subprocess
import sys
from contextlib import closing

import psutil
import psycopg
import pytest

from launch.processes import Processes, RunFailed, frozen
from launch.servers import PostgreSQL
from launch.servers.external import ExternalPostgreSQL, expected
from launch.servers.postgresql import as_user
from launch.variants import AS_IS


@pytest.fixture(scope="module", params=["default.conf", "tuned.conf"])
def profiled(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profiled")
    with Processes(folder / "logs") as processes:
        server = PostgreSQL(processes, folder / "postgresql", "local", profile=request.param)
        server.start()
        yield server


def value(server, sql):
    with server.connect() as connection:
        return connection.execute(sql).fetchone()[0]


def test_a_server_has_the_settings_of_its_profile(profiled):
    for name, profiles in expected(profiled.profile, ExternalPostgreSQL.compared).items():
        assert value(profiled, f"SHOW {name}") == profiles


def test_the_default_profile_is_what_initdb_leaves(profiled):
    theirs = (profiled.data / "postgresql.conf").read_text()
    ours = expected(profiled.profile, ["shared_buffers", "max_connections"])

    same = [f"\n{name} = {text}\t" in theirs for name, text in ours.items()]
    assert all(same) == (profiled.profile.name == "default.conf")


def test_texts_are_equal_if_identical_and_ordered_by_their_bytes(profiled):
    assert not value(profiled, "SELECT 'é' = U&'e\\0301'")
    assert value(profiled, "SELECT 'Z' < 'a'")


def test_a_server_listens_on_its_own_port_of_this_machine_only(profiled):
    (pid,) = profiled.processes.pids("database")
    opened = psutil.Process(pid).net_connections("all")

    assert [it.laddr for it in opened if it.status == "LISTEN"] == [("127.0.0.1", profiled.port)]
    assert [it for it in opened if it.family.name == "AF_UNIX"] == []


def test_a_server_reports_its_name_and_version(profiled):
    assert re.fullmatch(r"PostgreSQL \d+\.\d+", profiled.version())


@pytest.fixture
def server(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        server = PostgreSQL(processes, tmp_path / "postgresql", "local", profile="default.conf")
        server.start()
        yield server


def test_a_killed_server_starts_again_with_what_was_committed(server):
    """A process that works on a query wouldn't notice for long that its parent was killed."""
    with closing(server.connect()) as connection, closing(server.connect()) as busy:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
        busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 1000000000)")
        busy.pgconn.flush()
        backend = psutil.Process(busy.info.backend_pid)

        server.processes.kill("database")

        assert not backend.is_running() or backend.status() == psutil.STATUS_ZOMBIE
    server.start()
    assert value(server, "SELECT number FROM kept") == 1


def test_a_server_stops_at_once_though_clients_are_connected(server):
    with server.connect():
        server.processes.stop("database")

    assert "database system is shut down" in server.processes.log_tail("database")


def test_a_frozen_server_answers_nobody_until_the_block_ends(server):
    with server.connect() as connection:
        with frozen(server.processes.pids("database")) as family:
            assert len(family) > 5
            ended = psutil.STATUS_ZOMBIE  # the connection that found it ready
            assert {one.status() for one in family} - {ended} == {psutil.STATUS_STOPPED}
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_cpu_of_connections_that_ended_is_counted(server):
    before = server.processes.cpu_s()["database"]
    value(server, "SELECT count(*) FROM generate_series(1, 3000000)")

    assert server.processes.cpu_s()["database"] > before + 0.1


def test_an_unknown_option_fails_the_run_with_what_the_server_says(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        server = PostgreSQL(
            *(processes, tmp_path / "postgresql", "local"),
            profile="default.conf",
            options=["--no_such_option=1"],
        )
        with pytest.raises(RunFailed, match="no_such_option"):
            server.start()


def test_an_ordinary_user_starts_a_server(tmp_path):
    """Root becomes one for this, and all other tests here run as whoever runs pytest."""
    done = subprocess.run(
        [*as_user(), sys.executable, "-m", "tests.with_database", "postgres", "id", "-u"],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )

    assert "on PostgreSQL" in done.stderr
    assert int(done.stdout) > 0


def external(server, tmp_path, monkeypatch, user, profile):
    url = f"postgres://{user}@127.0.0.1:{server.port}/feed"
    monkeypatch.setenv("DATABASE_URL", url)
    processes = Processes(tmp_path / "external")
    return processes, ExternalPostgreSQL(processes, profile)


def test_an_external_server_gets_a_database_for_a_run_and_loses_it(server, tmp_path, monkeypatch):
    databases = "SELECT count(*) FROM pg_database"
    before = value(server, databases)
    with closing(server.connect()) as admin:
        admin.execute("CREATE USER runner")
        processes, its = external(server, tmp_path, monkeypatch, "runner", AS_IS)
        with pytest.raises(RunFailed, match=r"permission denied.*; its user needs CREATEDB"):
            its.start()
        admin.execute("ALTER USER runner CREATEDB")

    with processes:
        its.start()
        with psycopg.connect(its.environment["DATABASE_URL"]) as connection:
            connection.execute("CREATE TABLE kept ()")
        assert value(server, databases) == before + 1
        assert its.version().startswith(f"{server.version()} (external, shared_buffers=128MB, ")

    assert value(server, databases) == before


def test_an_external_server_with_other_settings_is_refused(server, tmp_path, monkeypatch):
    _, its = external(server, tmp_path, monkeypatch, "postgres", "tuned.conf")

    with pytest.raises(RunFailed, match=r"synchronous_commit is on, not off.*postgres_asis-…"):
        its.start()
