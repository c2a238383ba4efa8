"""The tab in Locust's web UI, in a real browser."""

import os
import signal
import sys
import time
import urllib.request
from urllib.error import URLError

import psutil
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from launch.processes import Processes, free_port
from tests.browser import NARROW, browsing, overflows, resize

NONE = "0 / s", "over the last 10 s"
WITHIN_S = 60


@pytest.fixture
def locust(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        yield processes


@pytest.fixture
def web_ui(service, locust):
    """The address of a Locust that waits for its user."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        *(sys.executable, "-m", "locust", "-f", "locustfiles/fanout.py"),
        *(f"--host={service.url}", f"--tokens={service.tokens}", f"--web-port={port}"),
        *("--users=20", "--spawn-rate=100"),
    ]
    locust.start("locust", command, {})
    locust.wait_until("locust", lambda: answers(url))
    return url


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except URLError:
        return False


@pytest.fixture
def browser(tmp_path):
    with browsing(tmp_path) as browser:
        yield browser


def shown(browser):
    """Return the visible rows of the table: figure → value, time span."""
    rows = browser.find_elements(By.CSS_SELECTOR, "table tbody tr")
    cells = [[td.text for td in row.find_elements(By.TAG_NAME, "td")] for row in rows]
    return {figure: tuple(rest) for figure, *rest in cells if len(rest) == 2}


def press(browser, text, tag="button"):
    WebDriverWait(browser, WITHIN_S).until(
        lambda it: it.find_element(By.XPATH, f"//{tag}[normalize-space()='{text}']")
    ).click()


@pytest.fixture
def tab(web_ui, browser):
    """The open tab, while users post."""
    browser.get(web_ui)
    press(browser, "Start")
    press(browser, "Fan-out")
    return browser


def test_the_tab_follows_the_service(tab, tmp_path):
    within = WebDriverWait(tab, WITHIN_S, ignored_exceptions=[Exception])
    within.until(lambda it: shown(it)["Deliveries"] != NONE)
    first = shown(tab)
    within.until(lambda it: shown(it)["Deliveries"] != first["Deliveries"])

    assert [*first][:4] == ["Backlog", "Oldest post waits", "Lag p50", "Lag p99"]
    assert (first["Strategy"][0], first["Store"][0]) == ("outbox", "setbased: ok")
    assert first["Backlog"][0].endswith(" posts")
    assert first["Lag p99"][0].endswith(" ms")
    assert {span for _, span in first.values()} == {"now", NONE[1], "since the start"}
    tab.save_screenshot(str(tmp_path / "wide.png"))
    resize(tab, NARROW)
    time.sleep(1)
    tab.save_screenshot(str(tmp_path / "narrow.png"))
    assert not overflows(tab)


def test_the_tab_says_when_the_service_is_unreachable(tab, service):
    within = WebDriverWait(tab, WITHIN_S, ignored_exceptions=[Exception])
    within.until(lambda it: "Strategy" in shown(it))
    service.stop_web()

    try:
        within.until(lambda it: shown(it)["Service"][0].startswith("unreachable: http://127.0.0.1"))
    finally:
        service.start()


def test_limits_can_be_set_in_the_form(web_ui, browser, locust):
    browser.get(web_ui)
    press(browser, "Custom parameters", tag="*")
    for name in ("failLatencyMs", "failLagMs", "failRatio"):
        field = browser.find_element(By.NAME, name)
        WebDriverWait(browser, WITHIN_S).until(lambda _, field=field: field.is_displayed())
        field.send_keys("0.000001" if name != "failRatio" else "0.9")
    press(browser, "Start")
    press(browser, "Fan-out")
    within = WebDriverWait(browser, WITHIN_S, ignored_exceptions=[Exception])
    within.until(lambda it: shown(it)["Deliveries"] != NONE)

    (pid,) = locust.pids("locust")
    os.kill(pid, signal.SIGINT)
    psutil.Process(pid).wait(WITHIN_S)

    log = (locust.logs / "locust.log").read_text()
    assert "--fail-p99-ms 1e-06 is broken" in log
    assert "--fail-lag-ms 1e-06 is broken" in log
    assert "--fail-ratio" not in log
