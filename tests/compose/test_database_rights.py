"""The service, as the database's user that compose gives it."""

import subprocess
import sys
from contextlib import closing
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import MySQLdb
import psycopg
import pytest

from launch import servers
from launch.processes import Processes, free_port
from launch.servers.base import find_binary
from launch.service import app_server, is_ready
from tests.compose.project import FOLDER

MANAGE = [sys.executable, "manage.py"]


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with Processes(tmp_path_factory.mktemp("rights") / "logs") as processes:
        yield processes


def mysql(processes, folder):
    server = servers.MySQL(processes, folder, "local", profile="tuned.cnf")
    server.start()
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE feed")
        cursor.execute("CREATE USER feed@'%' IDENTIFIED BY 'secret'")
        for line in (FOLDER / "mysql/database.sql").read_text().splitlines():
            if not line.startswith("--"):
                cursor.execute(line)
    return f"mysql://feed:secret@127.0.0.1:{server.port}/feed"


def postgres(processes, folder):
    server = servers.PostgreSQL(processes, folder, "local", profile="tuned.conf")
    server.start()
    with closing(server.connect(database="postgres")) as connection:
        connection.execute("DROP DATABASE feed")
        connection.execute("DROP ROLE feed")
    run = [find_binary("psql"), "--set=ON_ERROR_STOP=1", f"--file={FOLDER}/postgresql/database.sql"]
    address = f"--dbname=host=127.0.0.1 port={server.port} user=postgres"
    subprocess.run([*run, address], env={"POSTGRES_PASSWORD": "secret"}, check=True)
    return f"postgres://feed:secret@127.0.0.1:{server.port}/feed"


@pytest.fixture(scope="module", params=[mysql, postgres])
def url(request, processes):
    """URL of a server that has done what its image does: it makes the user, and has run
    database.sql."""
    yield request.param(processes, processes.logs.parent / request.param.__name__)
    processes.stop("database")


def test_the_service_needs_no_more_rights_than_on_its_database(url, processes):
    folder, port = processes.logs.parent, free_port()
    env = {"DATABASE_URL": url, "FEED_STRATEGY": "outbox", "WEB_WORKERS": "1"}
    processes.call("migrate", [*MANAGE, "migrate"], env)
    seed = ["seed_people", "--people=3", "--friends=2", f"--tokens={folder}/tokens.csv"]
    processes.call("seed", [*MANAGE, *seed], env)
    processes.start("web", app_server(port), env)
    processes.start("drainer", [*MANAGE, "drain"], env)
    processes.wait_until("web", lambda: is_ready(port))
    _, token, *_ = (folder / "tokens.csv").read_text().replace(",", "\n").split("\n")[2:]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    posts = f"http://127.0.0.1:{port}/v1/posts/"
    urlopen(Request(posts, b'{"body": "hello"}', headers)).close()
    processes.call("await_drain", [*MANAGE, "await_drain"], env)

    assert processes.call("poison", [*MANAGE, "list_poison"], env) == ""
    for role in ("web", "drainer"):
        processes.stop(role)


@pytest.mark.parametrize("url", [mysql], indirect=True)
def test_the_service_cannot_read_what_belongs_to_the_server(url):
    login = {"host": "127.0.0.1", "port": urlsplit(url).port, "user": "feed", "password": "secret"}
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


@pytest.mark.parametrize("url", [postgres], indirect=True)
def test_nor_on_postgresql(url):
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        for statement in (
            "SELECT * FROM pg_authid",
            "CREATE DATABASE another",
            "ALTER SYSTEM SET max_connections = 5",
            "COPY (SELECT 'x') TO '/tmp/x'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(url, dbname="postgres")
