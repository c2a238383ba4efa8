"""Pictures in the documents: the files that they name exist, and all diagrams can be drawn."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree as ET

import nicegui
import pytest

from lab.texts.slides import COURSE, ROW
from tests.browser import browsing

NAME = "{http://www.w3.org/2000/svg}text"
PARTS = Path("docs/pictures/architecture.svg")
LESSONS = [
    (COURSE.parent / link).resolve().relative_to(Path.cwd())
    for _, link in ROW.findall(COURSE.read_text())
]
MERMAID = Path(nicegui.__file__).parent / "elements/mermaid/dist"
"""The library that draws them on GitHub too, as a package brings it."""
DRAW = """
    const [diagram, done] = [arguments[0], arguments[1]]
    import("/index.js")
        .then(it => it.mermaid.render("it", diagram))
        .then(it => done(it.svg), error => done(String(error)))
"""


def test_the_files_that_the_picture_of_the_parts_names_exist():
    texts = ET.parse(PARTS).iter(NAME)
    named = [it.text for it in texts if it.get("class") == "file"]

    assert named
    assert [it for it in named if not Path(it).exists()] == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser on a page that has the library."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=MERMAID))
    Thread(target=server.serve_forever, daemon=True).start()
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        browser.get(f"http://127.0.0.1:{server.server_port}/index.js")
        yield browser
    server.shutdown()
    server.server_close()


def diagrams(lesson):
    return re.findall(r"^```mermaid\n(.*?)^```", lesson.read_text(), re.MULTILINE | re.DOTALL)


def test_the_course_has_fifteen_lessons():
    assert len(LESSONS) == 15


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_a_lesson_has_a_diagram_that_can_be_drawn(browser, lesson):
    drawn = [browser.execute_async_script(DRAW, it) for it in diagrams(lesson)]

    assert drawn
    assert [it for it in drawn if not it.startswith("<svg")] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_the_figures_of_a_diagram_are_in_its_lesson(lesson):
    text = re.sub(r"^```mermaid\n.*?^```", "", lesson.read_text(), flags=re.MULTILINE | re.DOTALL)
    said = [it.rstrip(".") for it in re.findall(r"[\d.]+", text.replace(",", ""))]
    drawn = [
        figure.strip()
        for it in diagrams(lesson)
        for figures in re.findall(r"^ *(?:bar|line) \[(.*)\]$", it, re.MULTILINE)
        for figure in figures.split(",")
    ]

    assert [it for it in drawn if it not in said] == []
