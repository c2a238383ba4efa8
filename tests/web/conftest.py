from contextlib import contextmanager
from urllib.request import urlopen

import pytest
from django.conf import settings

from launch.processes import Processes
from launch.service import Service, gunicorn
from launch.variants import Variant


@contextmanager
def web(folder, *command, application=()):
    """A web server with one worker, no database and the tests' key; yields its port."""
    with Processes(folder / "logs") as processes:
        service = Service(Variant.named("sqlite-inline-setbased"), processes, folder)
        env = service.environments[0] | {"WEB_WORKERS": "1", "SECRET_KEY": settings.SECRET_KEY}
        processes.start("web", [*command, *gunicorn(service.port), *application], env)
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
