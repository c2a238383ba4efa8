"""Links between the documents."""

import re
from pathlib import Path

import pytest

FOLDERS = ("compose", "docs", "lab", "replays")
PAGES = [
    *Path().glob("*.md"),
    *(page for folder in FOLDERS for page in Path(folder).rglob("*.md")),
]


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them, and those that it sets."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", it.lower()).replace(" ", "-") for it in headings}
    return made | set(re.findall(r'<a id="([\w-]+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target
