"""The page at /, in a real browser, and its commands in a shell."""

import json
import subprocess
from itertools import product

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from accounts.follows import author_ids
from accounts.models import Person
from feed.home import _page
from tests.browser import browsing, overflows, violations

BACKGROUNDS = {"light": "rgba(255, 255, 255, 1)", "dark": "rgba(13, 17, 23, 1)"}


@pytest.fixture
def browser(tmp_path, live_server):
    with browsing(tmp_path) as browser:
        yield browser


def show(browser, url, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(url)


def test_the_page_is_accessible_fits_its_window_and_loads_nothing(browser, live_server):
    for width, (scheme, colour) in product((1400, 390), BACKGROUNDS.items()):
        show(browser, live_server.url, width, scheme)
        assert browser.execute_script("return window.innerWidth") == width
        assert not overflows(browser)
        assert violations(browser) == []
        assert background(browser) == colour
    script = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    assert browser.execute_script(script) == []
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def background(browser):
    return browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")


@pytest.fixture(params=["friends", "follows"])
def edges(request, live_server):
    """Whose posts are in feeds."""
    if request.param == "follows":
        request.getfixturevalue("follows_api")
    _page.cache_clear()
    yield request.param
    _page.cache_clear()


def copied(browser, button):
    """Press a copy button, and return what it copied."""
    rights = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": rights})
    button.click()
    WebDriverWait(browser, 60).until(lambda browser: button.text == "Copied")
    script = "navigator.clipboard.readText().then(arguments[0])"
    return browser.execute_async_script(script)


def test_its_commands_work_as_copied(edges, browser, live_server):
    """One person posts, and another finds the post in their feed; also for a second time."""
    show(browser, live_server.url, 1400, "light")
    browser.find_element(By.CSS_SELECTOR, "footer summary").click()
    commands = copied(browser, browser.find_element(By.CSS_SELECTOR, "footer .copy"))

    for _ in range(2):
        done = subprocess.run(
            ["sh", "-c", commands], capture_output=True, text=True, timeout=120, check=True
        )
        *_, post, feed = map(json.loads, done.stdout.splitlines())
        assert post["body"] == "Hello"
        assert [shown["id"] for shown in feed["posts"]] == [post["id"]]
        reader = Person.objects.last()
        assert reader.username.startswith("bob-")
        assert list(author_ids(reader.id)) == [post["author"]]
