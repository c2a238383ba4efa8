"""Each release's database, upgraded: its data is complete, and the service works."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from launch.processes import Processes
from launch.servers import MySQL
from launch.servers.mysql import CREATION
from tests.commands import python
from tests.system import releases

DUMPS = Path(releases.__file__).parent
RELEASES = sorted({path.name.rsplit(".", 2)[0] for path in DUMPS.glob("*.sql")})
CHECK = "from tests.system.releases import check; check()"
CHECK_REPLAYS = "from tests.system.releases import check_replays; check_replays()"


@pytest.fixture(params=RELEASES)
def release(request):
    return request.param


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mariadb")
    with Processes(folder / "logs") as processes:
        server = MySQL(processes, folder / "mysql", "local", profile="tuned.cnf")
        server.start()
        yield server


@pytest.fixture(params=["sqlite", "mariadb"])
def database(request, release, tmp_path):
    """Load the release's database; return the service's settings for it."""
    dump = (DUMPS / f"{release}.{request.param}.sql").read_text()
    if request.param == "sqlite":
        path = tmp_path / "release.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(dump)
        return {"DATABASE_URL": f"sqlite:///{path}"}
    server = request.getfixturevalue("mariadb")
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("DROP DATABASE feed")
        cursor.execute(CREATION.format("feed"))
        cursor.execute("USE feed")
        cursor.execute("SET FOREIGN_KEY_CHECKS = 0")
        for statement in dump.split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        connection.commit()
    return server.environment


@pytest.fixture
def manage(database):
    return partial(python, "manage.py", **database)


def test_what_a_release_wrote_is_whole_after_an_upgrade(manage):
    migrated = manage("migrate", "--no-input")
    assert migrated.returncode == 0, migrated.stderr

    checked = manage("shell", "-c", CHECK)
    assert checked.returncode == 0, checked.stderr


def test_replays_go_on_with_what_a_release_wrote(manage):
    installed = {"DJANGO_SETTINGS_MODULE": "tests.replays.settings"}
    migrated = manage("migrate", "--no-input", **installed)
    assert migrated.returncode == 0, migrated.stderr

    checked = manage("shell", "-c", CHECK_REPLAYS, **installed)
    assert checked.returncode == 0, checked.stderr
    assert "\n0\n" in checked.stdout  # miscounted likes


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_post_that_an_upgrade_loses_is_found(manage):
    manage("migrate", "--no-input")
    lose = "from feed.models import Post; Post.objects.first().delete(); "

    assert "AssertionError: rowwise" in manage("shell", "-c", lose + CHECK).stderr
