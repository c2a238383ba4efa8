"""The settings that docs/running.md names for production, and what they refuse."""

import re
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from launch.processes import Processes, free_port
from runtime.logs import MOST
from tests.commands import python

PRODUCTION = {
    "HTTPS": "1",
    "ALLOWED_HOSTS": "feed.example",
    "SECRET_KEY": "Wq3-x9Z_" * 8,
    "TRUSTED_PROXIES": "1",
}
CHECK = ["manage.py", "check", "--deploy", "--fail-level=WARNING"]
GUNICORN = ["-m", "gunicorn", "--config=config/gunicorn.py"]
WRONG = {
    "DEBUG": ("1", "security.W018"),
    "SECRET_KEY": ("too short", "security.W009"),
    "ALLOWED_HOSTS": ("", "security.W020"),
    "HSTS_S": ("0", "security.W004"),
    "TRUSTED_PROXIES": ("0", "feed.W002"),
}


def run(argv, tmp_path, **env):
    return python(*argv, **{"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"} | env)


def test_the_deployment_checks_find_nothing_in_the_documented_settings(tmp_path):
    section = Path("docs/running.md").read_text().partition("## In production")[2]
    assert PRODUCTION.keys() <= set(re.findall(r"^([A-Z_]+)=", section, re.MULTILINE))

    done = run(CHECK, tmp_path, **PRODUCTION)

    assert done.returncode == 0, done.stderr


def test_the_deployment_checks_refuse_what_is_not_for_production(tmp_path):
    done = run(CHECK, tmp_path, **PRODUCTION | {name: value for name, (value, _) in WRONG.items()})

    assert done.returncode != 0
    assert [warning for _, warning in WRONG.values() if warning not in done.stderr] == []


def test_a_server_with_https_does_not_start_while_they_warn(tmp_path):
    done = run([*GUNICORN, "--bind=127.0.0.1:0"], tmp_path, **PRODUCTION | {"DEBUG": "1"})

    assert done.returncode != 0
    assert "security.W018" in done.stderr


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    """A server in production, whose proxy is at the same address as its probes."""
    folder, port = tmp_path_factory.mktemp("production"), free_port()
    with Processes(folder) as processes:
        env = PRODUCTION | {"DATABASE_URL": f"sqlite:///{folder}/feed.sqlite3", "WEB_WORKERS": "1"}
        own = {"PROMETHEUS_MULTIPROC_DIR": f"{folder}/metrics"}
        processes.start("web", [sys.executable, *GUNICORN, f"--bind=127.0.0.1:{port}"], env | own)
        processes.wait_until("web", lambda: "Booting worker" in processes.log_tail("web"))
        yield port, folder / "web.log"


def ask(port, path, **headers):
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as client:
        client.request("GET", path, headers={"Host": "feed.example"} | headers)
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()


def test_requests_without_https_are_redirected_and_browsers_keep_to_it(production):
    status, headers, _ = ask(production[0], "/v1/schema/")
    assert (status, headers["Location"]) == (301, "https://feed.example/v1/schema/")

    status, headers, _ = ask(production[0], "/v1/schema/", **{"X-Forwarded-Proto": "https"})

    assert status == 200
    assert headers["Strict-Transport-Security"] == "max-age=2592000"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/healthz", "/metrics"])
def test_probes_and_scrapes_need_no_https(path, production):
    assert ask(production[0], path)[0] == 200


def test_an_unknown_host_gets_a_400_and_few_lines_in_the_log(production):
    port, log = production
    for _ in range(MOST + 3):
        status, _, body = ask(port, "/v1/schema/", Host="evil.example")
        assert (status, body) == (400, b'{"detail": "Bad request."}')

    lines = log.read_text().splitlines()
    assert len([line for line in lines if "'evil.example'" in line]) == MOST
    assert not [line for line in lines if "Traceback" in line or line.startswith(" ")]
