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
QUERIES = [
    it["expr"].replace("$__rate_interval", "1m")
    for panel in DASHBOARD["panels"]
    for it in panel["targets"]
]
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
    assert (
        MONITORING / "prometheus.yml"
        == FOLDER / mounts("prometheus")["/etc/prometheus/prometheus.yml"]
    )


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


@pytest.mark.parametrize(("loads_a_minute", "alerts"), [(600, 1), (60, 0)])
def test_timelines_that_are_loaded_again_and_again_raise_an_alert(loads_a_minute, alerts, tmp_path):
    """Beside 3,000 feeds per minute."""
    feeds = f'feed_requests_total{{route="{resolve("/v1/feed/").route}", method="GET"}}'
    loads = 'feed_timeline_loads_total{store="ring"}'
    series = {feeds: "0+3000x20", loads: f"0+{loads_a_minute}x20"}

    assert_firing("FeedTimelinesLoaded", alerts, series, tmp_path)


@pytest.mark.parametrize(("accepts", "alerts"), [(0, 1), (1, 0)])
def test_posts_that_are_refused_raise_an_alert(accepts, alerts, tmp_path):
    series = {"feed_accepts_posts": f"{accepts}x20"}

    assert_firing("FeedPostsRefused", alerts, series, tmp_path)


def test_every_service_with_metrics_is_scraped_on_its_port():
    found = {}
    for job in JOBS:
        (where,) = job["dns_sd_configs"]
        found |= dict.fromkeys(where["names"], (where["type"], where["port"]))

    answers = {
        name: int(service["environment"].get("METRICS_PORT", 8000))
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


def test_the_dashboards_queries_are_valid(tmp_path):
    rules = [{"record": f"query:{n}", "expr": query} for n, query in enumerate(QUERIES)]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))

    done = run_promtool("check", "rules", file)

    assert done.returncode == 0, done.stderr
    assert f"{len(QUERIES)} rules found" in done.stdout


def test_the_dashboard_queries_only_exported_metrics(db):
    asked = set(re.findall(r"feed_\w+", " ".join(QUERIES)))

    assert asked <= exported()
    assert {"feed_backlog_posts", "feed_lag_seconds_bucket", "feed_deliveries_total"} <= asked


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


def test_the_panels_do_not_cover_each_other():
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
