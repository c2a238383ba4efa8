"""Each release's database, upgraded: its data is complete, and the service works."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from launch.processes import Processes
from launch.servers import LAUNCHERS, MySQL
from tests.backends import SQL_STORES
from tests.system import releases

DUMPS = Path(releases.__file__).parent
RELEASES = sorted({path.name.rsplit(".", 2)[0] for path in DUMPS.glob("*.sql")})
GO_ON = """
from accounts.models import Person
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import publish_post
from tests.system.releases import PASSWORD

ada = Person.objects.get(username="ada ünï")
assert ada.check_password(PASSWORD)
first = Post.objects.get(author_id=ada.id, body="text 0 ✓")
key = f"key of {ada.id}"
again = publish_post(author_id=ada.id, body=first.body, idempotency_key=key)
assert (again.replayed, again.post.id) == (True, first.id)
newest = publish_post(author_id=ada.id, body="after the upgrade").post
assert newest.id > 27
assert len(read_timeline(owner_id=ada.id, before=None, limit=20).posts) == 4
"""


@pytest.fixture(params=RELEASES)
def release(request):
    return request.param


@pytest.fixture(params=["sqlite", "mariadb"])
def database(request, release, tmp_path):
    """Load the release's database; yield the service's settings for it."""
    dump = (DUMPS / f"{release}.{request.param}.sql").read_text()
    if request.param == "sqlite":
        path = tmp_path / "release.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(dump)
        yield {"DATABASE_URL": f"sqlite:///{path}"}
        return
    with Processes(tmp_path / "logs") as processes:
        server = MySQL(processes, tmp_path / "mysql", LAUNCHERS["local"], profile="tuned.cnf")
        server.start()
        with closing(server.connect()) as connection:
            for statement in re.split(r";\n", dump):
                if statement.strip():
                    connection.cursor().execute(statement)
            connection.commit()
        yield server.environment


@pytest.fixture
def manage(database):
    def run(*arguments, **env):
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=os.environ | database | env,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_data_of_a_release_is_complete_after_an_upgrade(manage):
    manage("migrate", "--no-input")

    assert manage("migrate", "--check") == ""
    for alias in SQL_STORES:
        found = json.loads(manage("audit_timelines", "--json", FEED_TIMELINE_STORE=alias))
        assert (found["ok"], found["posts"], found["expected"]) == (True, 27, 123)
    for audit in ("audit_likes", "audit_signups"):
        manage(audit)
    manage("shell", "-c", GO_ON, FEED_STRATEGY="inline", FEED_TIMELINE_STORE="setbased")
    found = json.loads(manage("audit_timelines", "--json", FEED_TIMELINE_STORE="setbased"))
    assert (found["ok"], found["posts"]) == (True, 28)
