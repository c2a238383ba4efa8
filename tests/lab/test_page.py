"""The pages of reports in a real browser: fan-out's in detail, and every other kind."""

import shutil
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from lab.__main__ import main
from tests.browser import NARROW, WIDE, browsing, overflows, resize, violations
from tests.lab.test_advise import ASKED, measured_below
from tests.lab.test_capacity import step
from tests.lab.test_report import report_of

PICTURES, VARIANTS = 6, 12
EXAMPLES = Path("docs/example")
PAGES = [
    *(
        Path(kind) / "report.html"
        for kind in (
            "bench",
            "capacity",
            "costs/mixed",
            "factors",
            "fanout",
            "faults",
            "published-003",
        )
    ),
    Path("advise/advice.html"),
    Path("factors/compare.html"),
]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """A folder with PAGES, most of them of results that are in the repository."""
    folder = tmp_path_factory.mktemp("kinds")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True, ignore=most_faults)
    measured_below(folder / "costs")
    report_of(folder / "capacity", step(500), step(1_000, held=False))
    for page in PAGES:
        if page.name == "report.html":
            main(["report", str(folder / page.parent)])
    main(["compare", *[str(folder / "factors")] * 2])
    sources = ",".join(str(folder / "costs" / it) for it in ("bench", "mixed"))
    main(["advise", *ASKED, f"--costs={sources}", f"--out={folder / 'advise'}"])
    return folder


def most_faults(folder, names):
    return [it for it in names if Path(folder).name == "faults" and "frozen" not in it]


@pytest.fixture(scope="module")
def browser(kinds, tmp_path_factory):
    """A browser that shows the report of all fan-out variants."""
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        browser.get((kinds / "fanout/report.html").as_uri())
        yield browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window_and_shows_every_picture(browser, tmp_path, size, scheme):
    resize(browser, size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.save_screenshot(str(tmp_path / "page.png"))

    pictures = [it for it in browser.find_elements(By.CSS_SELECTOR, "svg") if it.is_displayed()]
    assert not overflows(browser)
    assert len(pictures) == PICTURES
    assert all(picture.size["width"] > 300 < picture.size["height"] * 2 for picture in pictures)
    assert brightness(browser, "background-color") > 200 or scheme == "dark"
    assert abs(brightness(browser, "background-color") - brightness(browser, "color")) > 150


def brightness(browser, what):
    colour = browser.find_element(By.TAG_NAME, "body").value_of_css_property(what)
    red, green, blue = colour.partition("(")[2].split(",")[:3]
    return (int(red) + int(green) + int(blue)) / 3


def test_every_variant_has_a_line_and_the_command_to_repeat_it(browser):
    lines = browser.find_elements(By.CSS_SELECTOR, "table.cards tbody tr")
    details = browser.find_elements(By.CSS_SELECTOR, "h2 ~ details:has(pre)")

    assert len(lines) == len(details) == VARIANTS
    details[0].find_element(By.TAG_NAME, "summary").click()
    command = details[0].find_element(By.TAG_NAME, "pre")
    assert command.is_displayed()
    assert command.text.startswith("python -m lab run fanout --variants ")


def test_nothing_is_fetched_from_elsewhere(browser):
    script = "return performance.getEntriesByType('resource').map(entry => entry.name)"

    assert browser.execute_script(script) == []


def test_a_heading_sorts_by_its_figure(browser):
    resize(browser, WIDE)
    browser.find_element(By.XPATH, "//th//button[contains(., 'posts/s')]").send_keys("\n")
    rows = browser.find_elements(By.CSS_SELECTOR, "table.cards tbody tr")
    rates = [row.find_elements(By.TAG_NAME, "td")[4].text.split()[0] for row in rows]

    assert float(rates[0]) == max(map(float, rates))


def test_pictures_show_their_figures_on_hover(browser):
    titles = browser.find_elements(By.CSS_SELECTOR, ".plot svg g > title")

    assert any("cores" in one.get_attribute("textContent") for one in titles)


@pytest.mark.parametrize("kind", PAGES, ids=str)
def test_every_kind_of_page_fits_a_phone_and_shuts_nobody_out(browser, kinds, kind):
    browser.get((kinds / kind).as_uri())

    for scheme, size in (("light", WIDE), ("dark", NARROW)):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        resize(browser, size)
        assert not overflows(browser)
    assert violations(browser, "serious", "critical") == []
    assert browser.find_element(By.CSS_SELECTOR, "h1 + .answer").text
    assert browser.get_log("browser") == []
