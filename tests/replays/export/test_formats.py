"""Files for spreadsheets: no text becomes a formula, and none is lost."""

import csv
import io
import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import load_workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from replays.export.app.formats import FORMULA, SEPARATORS, SIGNS, as_text, write_csv, write_xlsx
from replays.export.app.selectors import Row

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
BODIES = st.one_of(TEXTS, st.builds(str.__add__, st.sampled_from(FORMULA), TEXTS))


def written(write, bodies):
    rows = [Row(number, 1, AT, body) for number, body in enumerate(bodies, start=1)]
    return b"".join(write([rows]))


@given(st.lists(BODIES, max_size=5))
@example(['=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "1,=2"])
def test_a_csv_has_every_text_and_no_formula(bodies):
    data = written(write_csv, bodies).decode()

    _, *rows = csv.reader(io.StringIO(data, newline=""))
    assert [row[3] for row in rows] == [as_text(body) for body in bodies]
    assert not any(cell.startswith(FORMULA) for row in rows for cell in row)


PIECES = st.sampled_from([*SEPARATORS, *SIGNS, '"', "'", " ", "\xa0", "a", "1"])
BODIES_OF_CELLS = st.one_of(BODIES, st.text(PIECES, min_size=1))


@given(st.lists(BODIES_OF_CELLS, max_size=5))
@example(["a;=1+1", "a\t=1+1", "a|@SUM(A1)", "a\n-1+1", 'a;"=1+1', 'a";"=1', "a; \uff1d1", "a,=1"])
def test_no_cell_is_a_formula_where_a_program_splits_at_other_separators(bodies):
    data = written(write_csv, bodies).decode()

    cells = re.split(f"[{SEPARATORS}]", data)  # whether or not a program knows quotes
    assert not [cell for cell in cells if cell.strip().strip('"').strip().startswith((*SIGNS,))]


@given(BODIES_OF_CELLS)
@example("a;=1+1")
def test_the_escape_adds_apostrophes_only_and_only_once(body):
    escaped = as_text(body)

    assert escaped.replace("'", "") == body.replace("'", "")
    assert as_text(escaped) == escaped


@pytest.mark.parametrize(
    ("body", "escaped"),
    [
        ("=1", "'=1"),
        ("a;=1+1", "a;'=1+1"),
        ("to do:\n- milk\n- bread", "to do:\n'- milk\n'- bread"),
        ("2 - 1 = 1, a-b, x@y.example; it's", "2 - 1 = 1, a-b, x@y.example; it's"),
    ],
)
def test_other_text_stays_as_it_was_written(body, escaped):
    assert as_text(body) == escaped


@given(BODIES)
@example("=1+1")
@example("\x01control")
@example("_x0041_")
def test_a_sheet_has_the_text_and_no_formula(body):
    sheet = load_workbook(io.BytesIO(written(write_xlsx, [body]))).active

    cell = sheet["D2"]
    expected = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", as_text(body))
    assert cell.data_type != "f"
    assert _lines(str(cell.value)) == _lines(expected)


def _lines(text):
    """Normalize line ends, as XML does."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
