from contextlib import contextmanager
from urllib.request import urlopen

import pytest
from django.conf import settings

from launch.processes import Processes
from launch.service import Service, gunicorn
from launch.variants import Variant


@contextmanager
def web(folder, *command, application=(), options=(), **settings_of_it):
    """A web server with one worker, an empty database and the tests' key; yields its port."""
    with Processes(folder / "logs") as processes:
        service = Service(Variant.named("sqlite-inline-setbased"), processes, folder)
        env = service.environments[0] | {"WEB_WORKERS": "1", "SECRET_KEY": settings.SECRET_KEY}
        env |= settings_of_it
        service.manage("migrate", env)  # authentication asks which tokens were revoked
        server = [it for it in gunicorn(service.port) if it != "--reuse-port"]
        processes.start("web", [*command, *server, *options, *application], env)
        processes.wait_until("web", lambda: answers(service.port))
        yield service.port


def answers(port):
    try:
        urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with web(tmp_path_factory.mktemp("service")) as port:
        yield port
