"""The course: slides made from its lessons, and listings that are the code."""

import re
from pathlib import Path

import pytest

from lab.texts.slides import SLIDES, slides
from tests.docs.test_pictures import LESSONS

READ = Path("docs/read-the-code.md")
LISTINGS = re.findall(
    r"^```(?:python|lua)\n\S+ (\S+)\n(.*?)^```", READ.read_text(), re.MULTILINE | re.DOTALL
)


def lines_of(text):
    return [line.strip() for line in text.splitlines()]


def test_slides_are_those_of_the_lessons():
    assert SLIDES.read_text() == slides(), "run python -m lab figures --write"


def test_every_lesson_has_answers_apart():
    answers = Path("docs/answers.md").read_text()

    numbers = [int(number) for number in re.findall(r"^## Lesson (\d+)$", answers, re.MULTILINE)]
    assert numbers == [*range(1, len(LESSONS) + 1)]
    assert [it for it in LESSONS if "<summary>Solutions" in it.read_text()] == []


@pytest.mark.parametrize(("file", "listing"), LISTINGS)
def test_a_listing_is_as_it_stands_in_the_code(file, listing):
    code, wanted = lines_of(Path(file).read_text()), lines_of(listing)

    assert any(code[at : at + len(wanted)] == wanted for at in range(len(code)))


def test_there_are_five_listings():
    assert len({file for file, _ in LISTINGS}) == 5
