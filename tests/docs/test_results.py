"""The table of challenge results, compared with the verdicts beside it."""

import json
import re
from pathlib import Path

import pytest

from lab.challenge.stages import STAGES

TABLE = Path("docs/results/README.md")
VERDICTS = sorted(TABLE.parent.glob("*.json"))


@pytest.mark.parametrize("path", VERDICTS, ids=lambda path: path.stem)
def test_a_row_says_what_its_verdict_says(path):
    verdict = json.loads(path.read_text())
    passed = {one["stage"]: one["passed"] for one in verdict["stages"]}
    (row,) = re.findall(rf"^\| .*\]\({path.name}\).*$", TABLE.read_text(), re.MULTILINE)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    words = {True: "passed", False: "no", None: "not tried"}

    assert cells[2:-1] == [words[passed.get(stage.number)] for stage in STAGES]
    assert verdict["facts"]["When"][:10] in row
    assert "Not fair" not in verdict["facts"]


def test_every_row_has_a_verdict():
    assert len(VERDICTS) == TABLE.read_text().count(".json)")
