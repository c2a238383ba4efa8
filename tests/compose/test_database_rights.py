"""The service, as the database's user that compose gives it."""

import sys
from urllib.request import Request, urlopen

import MySQLdb
import pytest

from launch import servers
from launch.processes import Processes, free_port
from launch.service import app_server, is_ready
from tests.compose.project import FOLDER

MANAGE = [sys.executable, "manage.py"]


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with Processes(tmp_path_factory.mktemp("rights") / "logs") as processes:
        yield processes


@pytest.fixture(scope="module")
def server(processes):
    """A server that has done what the image does: it makes the user, then runs database.sql."""
    folder = processes.logs.parent / "mysql"
    server = servers.MySQL(processes, folder, "local", profile="tuned.cnf")
    server.start()
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE feed")
        cursor.execute("CREATE USER feed@'%' IDENTIFIED BY 'secret'")
        for line in (FOLDER / "mysql/database.sql").read_text().splitlines():
            if not line.startswith("--"):
                cursor.execute(line)
    return server


def test_the_service_needs_no_more_rights_than_on_its_database(server, processes):
    folder, port = processes.logs.parent, free_port()
    env = {
        "DATABASE_URL": f"mysql://feed:secret@127.0.0.1:{server.port}/feed",
        "FEED_STRATEGY": "outbox",
        "WEB_WORKERS": "1",
    }
    processes.call("migrate", [*MANAGE, "migrate"], env)
    seed = ["seed_people", "--people=3", "--friends=2", f"--tokens={folder}/tokens.csv"]
    processes.call("seed", [*MANAGE, *seed], env)
    processes.start("web", app_server(port), env)
    processes.start("drainer", [*MANAGE, "drain"], env)
    processes.wait_until("web", lambda: is_ready(port))
    _, token, *_ = (folder / "tokens.csv").read_text().replace(",", "\n").split("\n")[2:]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    url = f"http://127.0.0.1:{port}/v1/posts/"
    urlopen(Request(url, b'{"body": "hello"}', headers)).close()
    processes.call("await_drain", [*MANAGE, "await_drain"], env)

    assert processes.call("poison", [*MANAGE, "list_poison"], env) == ""


def test_the_service_cannot_read_what_belongs_to_the_server(server):
    login = {"host": "127.0.0.1", "port": server.port, "user": "feed", "password": "secret"}
    with MySQLdb.connect(**login) as connection:
        cursor = connection.cursor()
        for statement in (
            "SELECT * FROM mysql.user",
            "CREATE DATABASE another",
            "SET GLOBAL max_connections = 5",
            "SELECT 'x' INTO OUTFILE '/tmp/x'",
        ):
            with pytest.raises(MySQLdb.OperationalError, match="denied"):
                cursor.execute(statement)
