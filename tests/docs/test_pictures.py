"""Pictures that name files: each of them exists."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

NAME = "{http://www.w3.org/2000/svg}text"
PICTURES = sorted(Path("docs/pictures").glob("*.svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda it: it.name)
def test_the_files_that_a_picture_names_exist(picture):
    texts = ET.parse(picture).iter(NAME)
    named = [it.text for it in texts if it.get("class") == "file"]

    assert named
    assert [it for it in named if not Path(it).exists()] == []
