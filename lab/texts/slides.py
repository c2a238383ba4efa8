"""The course's slides, made from its lessons: Markdown that Marp shows, and that reads as it is."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lab.course import EXERCISES

COURSE = Path("docs/course.md")
SLIDES = Path("docs/slides.md")
BEGIN = """---
marp: true
paginate: true
title: Feed fan-out, a course
---

# Feed fan-out

One post, 500 friends, 500 posts per second. How many writes is that?

[The course](course.md). Each lesson has a prediction, what happens, and exercises.
The [answers](answers.md) are apart.
"""
ROW = re.compile(r"^\| (\d+) \| \[.*?\]\((.*?)\)", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(#[^)]*)?\)")
PREDICTION = re.compile(
    r"^Before you go on, a prediction\. (.*?)\n\n<details>.*?</summary>\n\n(.*?)\n</details>",
    re.MULTILINE | re.DOTALL,
)
DIAGRAM = re.compile(r"^```mermaid\n.*?^```", re.MULTILINE | re.DOTALL)
EXERCISE = re.compile(r"^## Exercises\n\n(.*?)\n\n\[Answers\]", re.MULTILINE | re.DOTALL)


def slides() -> str:
    """Return the text of SLIDES. Raises ValueError for a lesson that lacks a part."""
    rows = ROW.findall(COURSE.read_text())
    parts = [part for number, link in rows for part in _of(int(number), COURSE.parent / link)]
    return "\n---\n\n".join([BEGIN, *(f"{part}\n" for part in parts)])


def _of(number: int, lesson: Path) -> Iterator[str]:
    """Yield the slides of a lesson, with links as they are from SLIDES."""
    text = LINK.sub(lambda link: _moved(link, lesson), lesson.read_text())
    title, _, rest = text.partition("\n\n")
    prediction, exercises = PREDICTION.search(text), EXERCISE.search(text)
    if not prediction or not exercises:
        raise ValueError(f"{lesson} has no prediction, or no exercises")
    first = rest.partition("\n\n")[0]
    opening = "" if prediction[0].startswith(first) else f"{first}\n\n"
    yield f"{title}\n\n{opening}[The lesson]({os.path.relpath(lesson, SLIDES.parent)})"
    yield from DIAGRAM.findall(text)
    yield f"## {number}: a prediction\n\n{prediction[1]}"
    yield f"## {number}: what happens\n\n{prediction[2]}"
    asked = EXERCISES.get(number)
    check = f"\n\n`lab check {number}`: {asked.question}" if asked else ""
    yield f"## {number}: exercises\n\n{exercises[1]}{check}"


def _moved(link: re.Match[str], lesson: Path) -> str:
    target = lesson.parent / link[1] if link[1] else lesson
    return f"]({os.path.relpath(target, SLIDES.parent)}{link[2] or ''})"
