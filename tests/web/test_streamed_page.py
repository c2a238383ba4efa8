"""The page at / with the real stream, behind the proxy."""

import pytest
from selenium.webdriver.common.keys import Keys

from lab.faults.running import serving
from launch.service import Seed
from tests.browser import browsing
from tests.web.test_feed_page import Tab


@pytest.fixture
def service(tmp_path):
    seed = Seed(people=3, friends=2)
    with serving("sqlite-outbox-setbased@proxy+stream", tmp_path, seed) as running:
        yield running.service


def enter(tab, name):
    tab.enter(name, "sign up")
    tab.until_shown("#way", "live")
    return int(tab.find(".my-number").get_property("textContent"))


def test_a_friend_sees_a_post_and_its_deletion_by_the_stream(service, tmp_path):
    with browsing(tmp_path) as browser:
        ada, eve = Tab(browser, service.url), Tab(browser, service.url)
        ids = {}
        for tab, name in ((eve, "eve"), (ada, "ada")):
            tab.select()
            ids[name] = enter(tab, name)
        ada.find("#number").send_keys(str(ids["eve"]), Keys.ENTER)
        ada.until_shown("#sent", f"Person {ids['eve']}")
        eve.select()
        eve.press(f"Accept person {ids['ada']}")
        eve.until_shown("#way", "live")
        eve.post("Hello from Eve")
        eve.until_posts("Hello from Eve")

        ada.select()
        ada.until_posts("Hello from Eve")
        ada.until_shown("#way", "live")
        eve.select()
        eve.press("Delete: Hello from Eve")
        eve.until_posts()
        ada.select()
        ada.until_posts()
