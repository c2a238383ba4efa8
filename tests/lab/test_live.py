"""The live page in a real browser, with small services of SQLite."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from launch.processes import free_port, frozen
from launch.service import is_ready
from tests.browser import browsing, overflows, violations
from tests.commands import python

SMALL = ["--people=40", "--friends=20"]
CHOSEN = {"Left": "sqlite-outbox-setbased", "Right": "sqlite-inline-bulk"}
WITHIN_S = 90
STANDS_STILL_S = 15
PHONE = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}


OUTSIDE = {name: it for name, it in os.environ.items() if not name.startswith("PYTEST_")}
"""NiceGUI serves otherwise in a test."""


class Page:
    """``lab live`` and a tab that shows it."""

    def __init__(self, process, url, scratch, browser):
        self.process, self.url, self.scratch, self.browser = process, url, scratch, browser

    def open(self):
        self.browser.get(self.url)
        self.until(lambda: self.said("Left") is not None)

    def until(self, condition):
        return WebDriverWait(self.browser, WITHIN_S).until(lambda browser: condition())

    def find(self, css):
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def focus(self, css):
        """Return an element that has the focus, as with the Tab key."""
        self.browser.execute_script("document.querySelector(arguments[0]).focus()", css)
        return self.browser.switch_to.active_element

    def side(self, name, css):
        return f".side[aria-label={name}] {css}"

    def text(self, css):
        """The text of an element; empty while there is none."""
        script = "return document.querySelector(arguments[0])?.textContent ?? null"
        return self.browser.execute_script(script, css)

    def said(self, name):
        return self.text(self.side(name, "[role=status]"))

    def button(self, name, text):
        path = f"//section[@aria-label='{name}']//button[contains(., '{text}')]"
        return self.browser.find_element(By.XPATH, path)

    def press(self, name, text):
        self.until(lambda: self.button(name, text).is_enabled())
        self.button(name, text).send_keys(Keys.ENTER)

    def choose(self, name, variant):
        """Type a variant's name as somebody without a mouse does."""
        field = self.find(self.side(name, "input"))
        self.until(field.is_enabled)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(variant)
        field.send_keys(Keys.ENTER)

    def shows(self, name, what):
        """The figure of this name, as a number; 0 while there is none."""
        script = """
            const terms = [...document.querySelectorAll(arguments[0])]
            const term = terms.find(it => it.textContent === arguments[1])
            return term ? term.nextElementSibling.firstChild.textContent : ""
        """
        told = self.browser.execute_script(script, self.side(name, "dt"), what)
        return float(told.removesuffix("/s").replace(",", "") or 0) if told[:1].isdigit() else 0.0

    def posts_per_s(self):
        return float(self.text(".slider span").removeprefix("Posts per second: "))

    def is_drawn_anew(self):
        """Wait until new figures are shown."""
        for _ in range(2):
            before = self.text(self.side("Left", ".figures"))
            self.until(lambda before=before: self.text(self.side("Left", ".figures")) != before)

    def thumb(self, slider):
        return float(slider.get_property("value"))

    def is_missing_nothing(self, name):
        told = self.text(self.side(name, ".audit.good"))
        return bool(told) and ": 0 delivered" not in told and ", 0 missing" in told


@contextmanager
def serving(folder, browser):
    scratch, port = folder / "scratch", free_port()
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "live", f"--port={port}", *SMALL],
        env=OUTSIDE | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert f"http://127.0.0.1:{port}/" in process.stdout.readline()
        assert "Ctrl-C" in process.stdout.readline()
        page = Page(process, f"http://127.0.0.1:{port}/", scratch, browser)
        while not is_ready(port, "/"):
            assert process.poll() is None
        page.open()
        yield page
    finally:
        process.terminate()
        process.wait(WITHIN_S)
        process.stdout.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page on which two variants run."""
    with serving(tmp_path_factory.mktemp("live"), browser) as page:
        for name, variant in CHOSEN.items():
            page.choose(name, variant)
        page.until(lambda: not page.find(".load").is_displayed())
        page.find(".both").send_keys(Keys.ENTER)
        for name, variant in CHOSEN.items():
            page.until(lambda name=name, said=f"{variant} runs.": page.said(name) == said)
        yield page


def test_posts_light_up_in_the_feeds_and_none_is_missing(page):
    page.until(lambda: page.shows("Left", "Accepted") > 0)
    page.until(lambda: page.browser.find_elements(By.CSS_SELECTOR, ".side .friends .soon, .late"))
    page.until(lambda: page.is_missing_nothing("Left"))

    assert page.text(page.side("Left", ".cores li"))
    assert page.browser.find_elements(By.CSS_SELECTOR, page.side("Left", ".curves path"))


def test_a_slider_changes_the_load_while_it_runs(page):
    posts, reads = page.browser.find_elements(By.CSS_SELECTOR, "input[type=range]")
    reads.send_keys(Keys.HOME)
    posts.send_keys(Keys.ARROW_RIGHT * 8)

    page.until(lambda: page.text(".slider + .slider span") == "Reads per post: 0")
    page.until(lambda: page.text(".slider span") == "Posts per second: 60")
    page.until(lambda: page.shows("Left", "Offered") > 40)


def test_a_slider_stays_where_it_was_dragged(page):
    slider = page.find("input[type=range]")
    page.browser.execute_script("arguments[0].scrollIntoView()", slider)
    width = slider.size["width"]
    drag = ActionChains(page.browser)
    drag.move_to_element_with_offset(slider, round((60 / 1000 - 0.5) * width), 0).click_and_hold()
    drag.move_by_offset(round(0.03 * width), 0).release().perform()
    page.until(lambda: page.posts_per_s() not in (0, 60))
    page.is_drawn_anew()
    dragged = page.posts_per_s()

    assert page.thumb(slider) == dragged
    slider.send_keys(Keys.ARROW_LEFT)
    page.until(lambda: page.posts_per_s() == dragged - 5)
    assert page.thumb(slider) == dragged - 5
    page.until(lambda: page.shows("Left", "Offered") > 70)
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT * 4)
    page.until(lambda: page.posts_per_s() == page.thumb(slider) == 20)


def test_another_variant_runs_beside_the_other_side(page):
    page.press("Right", "Stop")
    page.until(lambda: page.said("Right") == "sqlite-inline-bulk has ended, and its servers.")
    page.choose("Right", "oracle-inline-bulk")
    page.press("Right", "Start")
    page.until(lambda: "'oracle' is none of sqlite, " in page.said("Right"))
    page.choose("Right", "sqlite-pull")
    page.press("Right", "Start")
    page.until(lambda: page.said("Right") == "sqlite-pull runs.")
    page.until(lambda: page.shows("Right", "Accepted") > 0)

    assert page.said("Left").endswith("runs.")


def test_a_fault_is_survived(page):
    page.press("Left", "Kill the drainer")

    page.until(lambda: "The fault is over. Now: " in page.said("Left"))
    page.until(lambda: page.is_missing_nothing("Left"))


def test_a_tab_that_is_loaded_again_shows_the_same(page):
    page.open()

    page.until(lambda: page.shows("Left", "Accepted") > 0)


def test_a_browser_that_stands_still_for_a_while_is_not_taken_for_closed(page):
    driver = psutil.Process(page.browser.service.process.pid)
    with frozen([it.pid for it in driver.children(recursive=True)]):
        time.sleep(STANDS_STILL_S)

    page.is_drawn_anew()
    assert page.process.poll() is None


@pytest.mark.parametrize(("device", "scheme"), [("wide", "light"), ("phone", "dark")])
def test_the_page_fits_and_is_accessible(page, scheme, device):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    if device == "phone":
        page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    page.until(lambda: is_dark(page) == (scheme == "dark"))

    assert not overflows(page.browser)
    page.until(lambda: violations(page.browser) == [])
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_shows_one_side_at_a_time(page):
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    left, right = (page.find(f".side[aria-label={name}]") for name in CHOSEN)
    page.until(lambda: left.is_displayed() and not right.is_displayed())
    page.find("input[value=Right]").send_keys(Keys.SPACE)
    page.until(lambda: right.is_displayed() and not left.is_displayed())
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.until(lambda: right.is_displayed() and left.is_displayed())


def is_dark(page):
    script = "return document.body.classList.contains('body--dark')"
    return page.browser.execute_script(script)


def test_the_tour_asks_before_it_runs(page):
    page.find("summary").send_keys(Keys.ENTER)
    run = page.browser.find_element(By.XPATH, "//button[contains(., 'Run it')]")

    assert "How many friends" in page.text(".tour")
    run.send_keys(Keys.ENTER)
    page.until(lambda: page.text(".tour [role=status]") == "Choose an answer first.")
    assert page.said("Left").endswith("runs.") or "Now: " in page.said("Left")


def test_nothing_is_fetched_from_elsewhere_and_nothing_fails(page):
    script = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    fetched = page.browser.execute_script(script)

    assert fetched
    assert [it for it in fetched if not it.startswith(page.url)] == []
    assert [it for it in page.browser.get_log("browser") if it["level"] == "SEVERE"] == []


def test_a_port_that_is_taken_is_told(page):
    port = page.url.split(":")[2].strip("/")

    done = python("-m", "lab", "live", f"--port={port}")

    assert done.returncode == 1
    assert "choose another with --port" in done.stderr


def test_everything_ends_with_the_last_tab(page):
    started = psutil.Process(page.process.pid).children(recursive=True)
    assert started

    page.browser.get("about:blank")

    assert page.process.wait(WITHIN_S) == 0
    assert psutil.wait_procs(started, timeout=WITHIN_S)[1] == []
    assert list(page.scratch.glob("lab-*")) == []


def test_everything_ends_with_ctrl_c_even_while_a_side_starts(browser, tmp_path):
    with serving(tmp_path, browser) as page:
        page.press("Left", "Start")
        page.until(lambda: "Starting" in page.said("Left"))
        page.until(lambda: psutil.Process(page.process.pid).children())
        started = psutil.Process(page.process.pid).children(recursive=True)

        page.process.send_signal(signal.SIGINT)

        page.process.wait(WITHIN_S)
        assert psutil.wait_procs(started, timeout=WITHIN_S)[1] == []
        assert list(page.scratch.glob("lab-*")) == []
