"""The pages of reports in a real browser: one of all fan-out variants, and those of other kinds."""

import shutil
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from lab.__main__ import main
from lab.experiments import EXPERIMENTS
from lab.reporting.report import report
from launch.variants import Variant
from tests.browser import NARROW, WIDE, browsing, overflows, violations
from tests.lab.test_advise import ASKED, measured_below
from tests.lab.test_capacity import report_of, step
from tests.lab.test_report import CLEAN, HALF, result

PICTURES = 6
EXAMPLES = Path("docs/example")
PAGES = [
    *(
        Path(kind) / "report.html"
        for kind in ("author-tuned", "bench", "capacity", "costs/mixed", "factors", "faults")
    ),
    Path("advise/advice.html"),
    Path("author-tuned/compare.html"),
    Path("published-003/report.html"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The address of a report."""
    folder = tmp_path_factory.mktemp("report")
    for number, name in enumerate(EXPERIMENTS["fanout"].variants, start=1):
        result_of(name, float(20 * number)).write(folder / name)
    report(folder)
    return (folder / "report.html").as_uri()


def result_of(name, rate):
    return result(
        name,
        audit=CLEAN if Variant.named(name).should_be_clean else HALF,
        achieved_rps=rate,
        deliveries_per_s=501 * rate,
        latency_ms={"mean": 500 / rate, "p95": 900 / rate, "p99": 1_000 / rate},
        latency_quantiles_ms=[(n + 1) * 10 / rate for n in range(101)],
        lag_ms={"p50": 40.0, "p99": 90_000 / rate},
        by_second=[(second, int(rate), 1_000 / rate) for second in range(25)],
        backlog=[(float(second), int(rate)) for second in range(25)],
        drain_s=0.1,
        cpu_s={"web": 12.0, "database": rate / 40, "locust": 6.0},
        cpu_s_per_million_deliveries=3_000 / rate,
    )


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        browser.get(page)
        yield browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window_and_shows_every_picture(browser, tmp_path, size, scheme):
    browser.set_window_size(*size)
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


def test_the_answer_comes_first(browser):
    first = browser.find_element(By.CSS_SELECTOR, "h1 + .answer").text

    assert " of the 500 posts per second that users sent" in first
    assert "friend's timeline" in first


def test_every_variant_has_a_line_and_the_command_to_repeat_it(browser):
    lines = browser.find_elements(By.CSS_SELECTOR, "table.cards tbody tr")
    details = browser.find_elements(By.CSS_SELECTOR, "h2 ~ details:has(pre)")

    assert len(lines) == len(details) >= 20
    details[0].find_element(By.TAG_NAME, "summary").click()
    command = details[0].find_element(By.TAG_NAME, "pre")
    assert command.is_displayed()
    assert command.text.startswith("python -m lab run fanout --variants ")


def test_nothing_is_fetched_from_elsewhere(browser):
    script = "return performance.getEntriesByType('resource').map(entry => entry.name)"

    assert browser.execute_script(script) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(browser, scheme):
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    assert violations(browser, "serious", "critical") == []
    assert browser.get_log("browser") == []


def test_a_heading_sorts_by_its_figure(browser):
    browser.set_window_size(*WIDE)
    browser.find_element(By.XPATH, "//th//button[contains(., 'posts/s')]").send_keys("\n")
    rows = browser.find_elements(By.CSS_SELECTOR, "table.cards tbody tr")
    rates = [row.find_elements(By.TAG_NAME, "td")[4].text for row in rows]

    assert float(rates[0]) == max(map(float, rates))


def test_pictures_show_their_figures_on_hover(browser):
    titles = browser.find_elements(By.CSS_SELECTOR, ".plot svg g > title")

    assert any("cores" in one.get_attribute("textContent") for one in titles)


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
    main(["compare", *[str(folder / "author-tuned")] * 2])
    sources = ",".join(str(folder / "costs" / it) for it in ("bench", "mixed"))
    main(["advise", *ASKED, f"--costs={sources}", f"--out={folder / 'advise'}"])
    return folder


def most_faults(folder, names):
    return [it for it in names if Path(folder).name == "faults" and "frozen" not in it]


@pytest.mark.parametrize("kind", PAGES, ids=str)
def test_every_kind_of_page_fits_a_phone_and_shuts_nobody_out(browser, kinds, kind):
    browser.get((kinds / kind).as_uri())

    for scheme, size in (("light", WIDE), ("dark", NARROW)):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        browser.set_window_size(*size)
        assert not overflows(browser)
        assert violations(browser, "serious", "critical") == []
    assert browser.find_element(By.CSS_SELECTOR, "h1 + .answer").text
    assert browser.get_log("browser") == []
