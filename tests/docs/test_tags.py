"""The tags of Locust's files, as docs/reference/commands.md has them."""

import re
from pathlib import Path

TAG = re.compile(r'@tag\("(\w+)"\)')
ROW = re.compile(r"^\| `((?:locustfiles|replays)/[\w/]+\.py)` \| (.*) \|$", re.MULTILINE)


def test_every_tag_is_documented():
    files = [*Path("locustfiles").glob("*.py"), *Path("replays").glob("*/locustfile.py")]
    found = {str(it): set(TAG.findall(it.read_text())) for it in files}
    rows = ROW.findall(Path("docs/reference/commands.md").read_text())

    documented = {file: set(re.findall(r"`(\w+)`", tags)) for file, tags in rows}
    assert documented == {file: tags for file, tags in found.items() if tags}
