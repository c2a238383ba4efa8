"""The profiles of compose/mysql on the chosen server; make test-mysql runs this on MySQL."""

import re
from configparser import ConfigParser

import psutil
import pytest

from launch.processes import Processes
from launch.servers import MySQL
from launch.servers.base import chosen, differences, profile_of
from launch.servers.external import ExternalMySQL, expected
from launch.servers.mysql import mysql_name

PROFILE_NAMES = ("default.cnf", "published.cnf", "tuned.cnf")


@pytest.fixture(scope="module", params=PROFILE_NAMES)
def profiled(request, tmp_path_factory):
    """A server of each profile; the user's own settings would stop it."""
    folder = tmp_path_factory.mktemp("profiled")
    (folder / ".my.cnf").write_text("[mysqld]\nno_such_option = 1\n")
    with pytest.MonkeyPatch.context() as patch, Processes(folder / "logs") as processes:
        patch.setenv("HOME", str(folder))
        server = MySQL(processes, folder / "mysql", "local", profile=request.param)
        server.start()
        yield server


def answer(server, sql):
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall()


def test_a_server_has_the_settings_of_its_profile(profiled):
    settings = dict(answer(profiled, "SHOW GLOBAL VARIABLES"))

    assert differences(expected(profiled.profile, ExternalMySQL.compared), settings) == []


def test_the_tuned_redo_log_is_large_whatever_its_option_is_called(profiled):
    settings = dict(answer(profiled, "SHOW GLOBAL VARIABLES"))
    size = settings.get("innodb_redo_log_capacity") or settings["innodb_log_file_size"]

    assert (int(size) == 2**30) == (profiled.profile.name == "tuned.cnf")


def test_any_text_can_be_stored_whatever_the_profile(profiled):
    ((created,),) = answer(
        profiled,
        "SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = 'feed'",
    )

    assert created == "utf8mb4_bin"


def test_a_server_listens_on_its_own_port_of_this_machine_only(profiled):
    (pid,) = profiled.processes.pids("database")
    open_to = [it.laddr for it in psutil.Process(pid).net_connections() if it.status == "LISTEN"]

    assert open_to == [("127.0.0.1", profiled.port)]


def test_a_server_reports_its_name_and_version(profiled):
    assert re.fullmatch(r"(MySQL|MariaDB) \d+\.\d+\.\d+", profiled.version())
    assert profiled.version().lower().startswith(chosen(MySQL) or "m")


@pytest.mark.parametrize("name", ["default.cnf", "published.cnf"])
def test_the_published_profile_sets_three_options(name):
    profile = ConfigParser()
    profile.read(profile_of("mysql", name))

    assert sorted(profile["mysqld"]) == sorted(ExternalMySQL.compared)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("10.11.19-MariaDB-0+deb12u1", "MariaDB 10.11.19"),
        ("5.5.5-10.6.18-MariaDB", "MariaDB 10.6.18"),
        ("9.7.4-2", "MySQL 9.7.4"),
        ("8.0.36", "MySQL 8.0.36"),
    ],
)
def test_mysql_and_mariadb_are_distinguished(said, name):
    assert mysql_name(said) == name
