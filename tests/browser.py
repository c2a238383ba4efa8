"""A headless Chromium."""

import shutil
from contextlib import contextmanager

from axe_core_python.selenium import Axe
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WIDE, NARROW = (1280, 900), (420, 900)


@contextmanager
def browsing(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*CHROMIUM, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    driver = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=driver)
    try:
        resize(browser, WIDE)
        yield browser
    finally:
        browser.quit()


def violations(browser, *impacts):
    """Return the rules of accessibility that a page breaks (axe), of these impacts or of any."""
    browser.set_script_timeout(120)
    found = Axe().run(browser)["violations"]
    return [it["id"] for it in found if not impacts or it["impact"] in impacts]


def resize(browser, size):
    """Give the window a width and a height, and wait until its page has the width."""
    browser.set_window_size(*size)
    script = f"return innerWidth === {size[0]}"
    WebDriverWait(browser, 20).until(lambda page: page.execute_script(script))


def overflows(browser):
    """Return whether the page is wider than its window."""
    return browser.execute_script("return document.documentElement.scrollWidth > innerWidth")
