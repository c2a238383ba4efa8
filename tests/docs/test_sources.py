"""Measured figures in the documents: each says where it comes from."""

import re
from pathlib import Path

import pytest

PATTERNS = ("README.md", "docs/*.md", "lab/experiments/*/lesson.md", "replays/*/lesson.md")
PAGES = sorted({page for it in PATTERNS for page in Path().glob(it)})

KEPT = "|".join(it.name for it in Path("docs/example").iterdir())  # results to write from
WRITTEN = re.compile(rf"(?sm)<!-- figures: ({KEPT})[:+ ].*?<!-- /figures -->|^```.*?^```")
SETTING = re.compile(r"`(--|[A-Z])[^`]*`[ (,:=]+\d[\d.,]* ?[\w/%]+")  # with its value
FIGURE = re.compile(
    r"(?<![\w.])\d[\d.,]*\*{0,2} ?(ms|µs|s|%|[\w-]*/s)(?![\w/-])"
    r"|\d\.\d+\*{0,2} (cores|times)\b|\bfactor of \d"
)
COLUMN = re.compile(r"(?m)^\|.*\b(ms|µs|s|cores|[\w-]*/s)\b.*\n\|[-: |]+\n(\|.*\n)*?.*\| \D?\d")
STATEMENTS = re.compile(r"(?<=[.:;?!])\s|\n(?=[|-]|\d+\. )")
CHOSEN = re.compile(r"(?i)\b(limits?|offer(s|ed)?|suppose[sd]?|time-outs?)\b")
SOURCE = re.compile(r"(?i)\b(published|computed|projected|git show|example/|decisions?[ /]\d)")
OLDER = re.compile(r"(?i)\bolder code\b")  # it holds until the next heading
PAGE_OF_ONE = re.compile(r"(?m)^All figures on this page: .*commit [0-9a-f]{8}\b")


def measures(block):
    text = re.sub(r"`[^`]*`", "", SETTING.sub("", block))
    found = [it for it in STATEMENTS.split(text) if FIGURE.search(it) and not CHOSEN.search(it)]
    return "by design" not in block and bool(found or COLUMN.search(text))


def unsourced(page):
    """Return the blocks of a page that have a measured figure and no source."""
    found = []
    for section in re.split(r"(?m)^#+ .*$", WRITTEN.sub("", page)):
        blocks = [it for it in re.split(r"\n\s*\n", section) if it.strip()]
        for at, block in enumerate(blocks):
            near = blocks[max(at - 1, 0) : at + 2] if "\n|--" in block else [block]
            sourced = any(map(SOURCE.search, near)) or any(map(OLDER.search, blocks[:at] + near))
            if measures(block) and not sourced and not PAGE_OF_ONE.search(page):
                found.append(block)
    return found


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_measured_figure_says_its_source(page):
    assert unsourced(page.read_text()) == []


TABLE = "| | p99 ms |\n|---|---|\n| `x` | 12 |"


@pytest.mark.parametrize("claim", ["X takes 12 ms.", "X makes 1,200 posts/s.", "9 % fail.", TABLE])
@pytest.mark.parametrize(
    ("page", "is_sourced"),
    [
        ("{}", False),
        ("# X\n\nOlder code: commit not kept.\n\n# Y\n\n{}", False),
        ("As published.\n\nText.\n\n{}", False),
        ("It looks for 2 s by design.\n\n{}", False),
        ("The limit is 500 ms.\n{}", False),
        ("Older code: commit not kept.\n\nText.\n\n{}", True),
        ("<!-- figures: fanout: x -->\n{}\n<!-- /figures -->", True),
        ("<!-- figures: no-such: x -->\n{}\n<!-- /figures -->", False),
        ("<!-- by design -->\n{}", True),
    ],
)
def test_only_a_source_lets_a_measured_figure_pass(page, is_sourced, claim):
    assert bool(unsourced(page.format(claim))) != is_sourced
