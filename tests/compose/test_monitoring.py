"""The settings of Prometheus and Grafana."""

import json
import re
import subprocess
from pathlib import PurePosixPath

import pytest
import yaml
from django.urls import resolve
from prometheus_client.metrics import MetricWrapperBase

from metrics import definitions
from metrics.backlog import Backlog
from metrics.scrape import Service
from tests.compose.project import FOLDER, OURS, SERVICES, WEB, instructions
from tests.metrics.prometheus import tool

MONITORING = FOLDER / "monitoring"
DASHBOARD = json.loads((MONITORING / "feed.json").read_text())
PROMETHEUS = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
JOBS = PROMETHEUS["scrape_configs"]
(DATASOURCE,) = yaml.safe_load((MONITORING / "datasources.yml").read_text())["datasources"]
(PROVIDER,) = yaml.safe_load((MONITORING / "dashboards.yml").read_text())["providers"]


def run_promtool(*arguments):
    return subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True)


def mounts(name):
    pairs = (mount.split(":")[:2] for mount in SERVICES[name]["volumes"])
    return {inside: source for source, inside in pairs}


def exported():
    """The names of the series that the service exports."""
    counted = [it for it in vars(definitions).values() if isinstance(it, MetricWrapperBase)]
    families = [f for it in (*counted, Backlog(), Service()) for f in it.collect()]
    endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "info": ["_info"]}
    return {f.name + ending for f in families for ending in endings.get(f.type, [""])}


def test_prometheus_accepts_its_settings():
    done = run_promtool("check", "config", "--lint-fatal", MONITORING / "prometheus.yml")

    assert done.returncode == 0, done.stderr
    assert mounts("prometheus")["/etc/prometheus/prometheus.yml"] == "./monitoring/prometheus.yml"


def test_every_alert_asks_for_metrics_that_are_exported(db):
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]

    assert set(re.findall(r"feed_\w+", " ".join(rule["expr"] for rule in rules))) <= exported()
    assert mounts("prometheus")["/etc/prometheus/alerts.yml"] == "./monitoring/alerts.yml"


def assert_firing(alert, alerts, series, tmp_path):
    """Let Prometheus evaluate the rules over 20 minutes of these series."""
    firing = f'ALERTS{{alertname="{alert}", alertstate="firing"}}'
    found = [{"labels": "{}", "value": alerts}]
    asked = {"expr": f"count({firing}) or vector(0)", "eval_time": "20m", "exp_samples": found}
    values = [{"series": name, "values": it} for name, it in series.items()]
    test = {"interval": "1m", "input_series": values, "promql_expr_test": [asked]}
    rules = [str((MONITORING / "alerts.yml").resolve())]
    file = tmp_path / "test.yml"
    file.write_text(json.dumps({"rule_files": rules, "tests": [test]}))

    done = run_promtool("test", "rules", file)

    assert done.returncode == 0, done.stdout + done.stderr


FEEDS = f'feed_requests_total{{route="{resolve("/v1/feed/").route}", method="GET"}}'
LOADS = 'feed_timeline_loads_total{store="ring"}'


@pytest.mark.parametrize(
    ("alert", "alerts", "series"),
    [
        ("FeedTimelinesLoaded", 1, {FEEDS: "0+3000x20", LOADS: "0+600x20"}),
        ("FeedTimelinesLoaded", 0, {FEEDS: "0+3000x20", LOADS: "0+60x20"}),
        ("FeedPostsRefused", 1, {"feed_accepts_posts": "0x20"}),
        ("FeedPostsRefused", 0, {"feed_accepts_posts": "1x20"}),
    ],
)
def test_timelines_that_are_loaded_and_posts_that_are_refused_raise_alerts(
    alert, alerts, series, tmp_path
):
    assert_firing(alert, alerts, series, tmp_path)


def test_every_service_with_metrics_is_scraped_on_its_port():
    found = {}
    for job in JOBS:
        (where,) = job["dns_sd_configs"]
        found |= dict.fromkeys(where["names"], (where["type"], where["port"]))

    answers = {
        name: int(service["environment"].get("METRICS_PORT", "8000").rpartition(":")[2])
        for name, service in OURS.items()
        if name in WEB or "METRICS_PORT" in service["environment"]
    }
    answers["proxy"] = int(SERVICES["proxy"]["environment"]["BIND_METRICS"].removeprefix(":"))
    assert answers.keys() == {*WEB, "drainer", "worker", "proxy"}
    assert found == {name: ("A", port) for name, port in answers.items()}


@pytest.mark.parametrize("name", [*WEB, "drainer", "worker"])
def test_every_container_has_its_own_writable_metrics_folder(name):
    folder = OURS[name]["environment"]["PROMETHEUS_MULTIPROC_DIR"]
    (user,) = instructions("USER")

    assert f"{folder}:uid={user},gid={user}" in OURS[name]["tmpfs"]


def test_grafana_finds_prometheus_and_its_dashboard():
    inside = mounts("grafana")
    board = PurePosixPath(
        SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    )

    assert DATASOURCE["url"] == "http://prometheus:9090"
    assert inside[str(board)] == "./monitoring/feed.json"
    assert PROVIDER["options"]["path"] == str(board.parent)
    for panel in DASHBOARD["panels"]:
        assert {it["datasource"]["uid"] for it in panel["targets"]} == {DATASOURCE["uid"]}


def test_grafana_knows_how_often_prometheus_scrapes():
    """Grafana computes $__rate_interval from it."""
    assert DATASOURCE["jsonData"]["timeInterval"] == PROMETHEUS["global"]["scrape_interval"]
