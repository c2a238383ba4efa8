"""A real Prometheus answers the dashboard's queries as Grafana asks them, under a small load."""

import json
import math
import re
import time
from pathlib import Path

import pytest

from tests.metrics.prometheus import metered, watch

FEED = json.loads(Path("compose/monitoring/feed.json").read_text())
TARGETS = {
    f"{panel['title']} {target['refId']}": target
    for panel in FEED["panels"]
    for target in panel["targets"]
}
OF_THE_LOAD = ("Requests by status A", "Deliveries A", "Posts accepted and delivered B", "Lag B")
RATE_INTERVAL = "10s"
"""Many scrapes, since a busy machine misses some."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    with metered(tmp_path_factory.mktemp("dashboard")) as running:
        prometheus = watch(running)
        give_up_at = time.monotonic() + 60
        with running.load(4):
            while not are_whole(answers := figures(prometheus)) and time.monotonic() < give_up_at:
                time.sleep(0.5)
            yield answers


def figures(prometheus):
    return {
        name: prometheus.ask(target["expr"].replace("$__rate_interval", RATE_INTERVAL))
        for name, target in TARGETS.items()
    }


def are_whole(answers):
    """A busy machine is late."""
    return all(all_finite(answer.values()) for answer in answers.values()) and all(
        sum(answers[name].values()) > 0 for name in OF_THE_LOAD
    )


def all_finite(values):
    return bool(values) and all(map(math.isfinite, values))


@pytest.mark.parametrize("name", TARGETS)
def test_every_query_returns_figures_with_the_labels_of_its_legend(name, answers):
    named = set(re.findall(r"{{(\w+)}}", TARGETS[name]["legendFormat"]))

    assert all_finite(answers[name].values())
    assert all(named == dict(labels).keys() for labels in answers[name])
    assert name not in OF_THE_LOAD or sum(answers[name].values()) > 0
