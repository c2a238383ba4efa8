import ssl
import subprocess
import sys
from contextlib import closing
from http.client import HTTPSConnection
from urllib.request import urlopen

import pytest

from launch.processes import Processes, free_port


@pytest.mark.parametrize("threads", ["0", "2"], ids=["in the loop", "in threads"])
@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({"LOG_REQUESTS": "1"}, 1),
        ({"LOG_REQUESTS": "1", "LOG_IN_BACKGROUND": "1"}, 1),
        ({}, 0),
    ],
    ids=["asked for", "in the background", "by default"],
)
def test_requests_are_logged_if_log_requests_is_set(threads, asked, lines, tmp_path):
    port = free_port()
    server = [sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py"]
    env = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3",
        "WEB_WORKERS": "1",
        "WEB_THREADS": threads,
        **asked,
    }
    with Processes(tmp_path) as processes:
        processes.start("web", [*server, f"--bind=127.0.0.1:{port}"], env)
        processes.wait_until("web", lambda: "Booting worker" in processes.log_tail("web"))
        urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20).close()

    log = (tmp_path / "web.log").read_text()
    assert log.count('"GET /healthz HTTP/1.1" 200') == lines


def test_tls_requests_are_answered(tmp_path):
    key, certificate, port = tmp_path / "key", tmp_path / "certificate", free_port()
    make = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 1"
    files = ["-keyout", key, "-out", certificate]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    server = [sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py"]
    options = [f"--bind=127.0.0.1:{port}", f"--keyfile={key}", f"--certfile={certificate}"]
    trusting = ssl.create_default_context(cafile=certificate)
    with Processes(tmp_path) as processes:
        env = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3", "WEB_WORKERS": "1"}
        processes.start("web", [*server, *options], env)
        processes.wait_until("web", lambda: "Booting worker" in processes.log_tail("web"))
        with closing(HTTPSConnection("localhost", port, timeout=20, context=trusting)) as client:
            for _ in range(2):
                client.request("POST", "/healthz", b"x" * 1000)
                assert client.getresponse().read()
