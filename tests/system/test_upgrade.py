"""Each release's database, upgraded: its data is complete, and the service works."""

import sqlite3
import subprocess
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from launch.processes import Processes
from launch.servers import MySQL, PostgreSQL
from launch.servers.base import find_binary
from launch.servers.mysql import CREATION
from launch.servers.postgresql import CREATION as CREATION_ON_POSTGRESQL
from tests.commands import python
from tests.system import releases
from tests.system.releases import HAD_REPLAYS

DUMPS = sorted(Path(releases.__file__).parent.glob("*.sql"))
MIGRATE = "from django.core.management import call_command; call_command('migrate', verbosity=0); "
CHECK = "from tests.system.releases import check; check({!r})"
CHECK_REPLAYS = "from tests.system.releases import check_replays; check_replays()"


@pytest.fixture(params=DUMPS, ids=lambda dump: dump.stem)
def dump(request):
    return request.param


@pytest.fixture
def release(dump):
    return dump.stem.rpartition(".")[0]


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    yield from _serving(MySQL, "tuned.cnf", tmp_path_factory.mktemp("mysql"))


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    yield from _serving(PostgreSQL, "tuned.conf", tmp_path_factory.mktemp("postgresql"))


def _serving(kind, profile, folder):
    with Processes(folder / "logs") as processes:
        server = kind(processes, folder, "local", profile=profile)
        server.start()
        yield server


@pytest.fixture
def manage(request, dump, tmp_path):
    """Load the release's database; return what runs commands of the service with it."""
    engine = dump.stem.rpartition(".")[2]
    if engine == "sqlite":
        path = tmp_path / "release.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(dump.read_text())
        return partial(python, "manage.py", DATABASE_URL=f"sqlite:///{path}")
    server = request.getfixturevalue(engine)
    LOADS[engine](server, dump)
    return partial(python, "manage.py", **server.environment)


def _load_into_mariadb(server, dump):
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE feed")
        cursor.execute(CREATION.format("feed"))
        cursor.execute("USE feed")
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        for statement in dump.read_text().split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        connection.commit()


def _load_into_postgresql(server, dump):
    with closing(server.connect(database="postgres")) as connection:
        connection.execute("DROP DATABASE feed")
        connection.execute(CREATION_ON_POSTGRESQL.format("feed OWNER feed"))
    psql = (find_binary("psql"), "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}")
    subprocess.run((*psql, server.environment["DATABASE_URL"]), check=True)


LOADS = {"mariadb": _load_into_mariadb, "postgresql": _load_into_postgresql}


def test_what_a_release_wrote_is_whole_after_an_upgrade(manage, release):
    upgraded = manage("shell", "-c", MIGRATE + CHECK.format(release))

    assert upgraded.returncode == 0, upgraded.stderr


@pytest.mark.parametrize(
    "dump",
    [d for d in DUMPS if d.name.startswith(HAD_REPLAYS)],
    ids=lambda d: d.stem,
    indirect=True,
)
def test_replays_go_on_with_what_a_release_wrote(manage):
    installed = {"DJANGO_SETTINGS_MODULE": "tests.replays.settings"}
    upgraded = manage("shell", "-c", MIGRATE + CHECK_REPLAYS, **installed)

    assert upgraded.returncode == 0, upgraded.stderr
    assert "\n0\n" in upgraded.stdout  # miscounted likes


@pytest.mark.parametrize("dump", [d for d in DUMPS if d.match("*.sqlite.sql")], indirect=True)
def test_a_post_that_an_upgrade_loses_is_found(manage, release):
    lose = "from feed.models import Post; Post.objects.first().delete(); "
    upgraded = manage("shell", "-c", MIGRATE + lose + CHECK.format(release))

    assert "AssertionError: rowwise" in upgraded.stderr
