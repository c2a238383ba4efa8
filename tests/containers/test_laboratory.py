"""The laboratory's image, which has the dev container in it: built, and the demo run inside.

Run it with make test-containers.
"""

import time
from urllib.request import urlopen

import pytest

from tests.containers.stack import docker, wait_until

pytestmark = [pytest.mark.alone, pytest.mark.containers]

FILE, IMAGE = ".devcontainer/Dockerfile", "feed-fanout-lab"
PAGE = "http://127.0.0.1:8900/"
SIZE = ("image", "inspect", "--format={{.Size}}", IMAGE)


@pytest.fixture(scope="module")
def image():
    began = time.monotonic()
    docker("build", "--quiet", f"--file={FILE}", f"--tag={IMAGE}", ".")
    size = int(docker(*SIZE)) / 1e6
    print(f"\n{IMAGE}: built in {time.monotonic() - began:.0f} s, {size:,.0f} MB", flush=True)
    return IMAGE


def test_the_demo_runs_and_delivers(image):
    began = time.monotonic()
    shown = docker("run", "--rm", "--init", "--entrypoint=make", image, "demo", "DEMO_RUN_TIME=3s")
    print(f"make demo DEMO_RUN_TIME=3s: {time.monotonic() - began:.0f} s", flush=True)

    assert shown.count("clean, 100 % compared") == 3


def test_servers_are_there_for_a_run(image):
    variant = "mysql_tuned-outbox-ring"
    small = "--people=100 --friends=20 --users=10 --run-time=5s --shared".split()

    assert "clean" in docker(
        "run", "--rm", "--init", image, "run", "fanout", *small, f"--variants={variant}"
    )


def test_the_live_page_answers(image):
    name = docker("run", "--detach", "--init", "--network=host", image).strip()

    def answers():
        try:
            with urlopen(PAGE) as page:
                return b"Fan-out, live" in page.read()
        except OSError:
            return False

    try:
        wait_until(answers, lambda: docker("logs", name), 60)
    finally:
        docker("rm", "--force", name)
