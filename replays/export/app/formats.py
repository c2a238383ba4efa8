"""Exports as files: the same cells in each format.

A spreadsheet program runs a cell that begins like a formula, with the rights of the person who
opens the file, and may split a CSV at other separators than ours. So every sign that could begin a
formula gets an apostrophe before it, which marks text (docs/decisions/0020).
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from replays.export.app.selectors import Row

Chunks = Iterable[list[Row]]
Cells = tuple[int, int, str, str]

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
FORMULA = (*SIGNS, "\t", "\r", "\n")
"""What a cell must not begin with: signs, and characters that programs drop before them."""
SEPARATORS = ",;|\t\r\n"
BEGINS_A_CELL = re.compile(rf'(?:\A|[{SEPARATORS}])[\s"]*(?=[{re.escape(SIGNS)}])')
SHEET_ROWS = 1_048_576
"""Most rows of a sheet; further rows go into another sheet."""
PIECE = 64 * 1024


def as_text(text: str) -> str:
    """Return the text without formulas, whichever of SEPARATORS a spreadsheet splits it at."""
    text = BEGINS_A_CELL.sub(r"\g<0>'", text)
    return f"'{text}" if text.startswith(FORMULA) else text


def write_csv(chunks: Chunks) -> Iterator[bytes]:
    """Yield the file a chunk at a time."""
    buffer = io.StringIO()
    rows = csv.writer(buffer)
    rows.writerow(Row._fields)
    for chunk in chunks:
        rows.writerows(map(_cells, chunk))
        yield _taken(buffer)
    yield _taken(buffer)


def write_xlsx(chunks: Chunks) -> Iterator[bytes]:
    """Yield the file after it is complete on disk: a ZIP's table of contents comes last."""
    book = Workbook(write_only=True)
    rows = chain.from_iterable(chunks)
    more = True
    while more:
        more = _write_sheet(book, rows)
    with TemporaryFile() as file:
        book.save(file)
        file.seek(0)
        yield from _pieces(file)


class Format(NamedTuple):
    content_type: str
    write: Callable[[Chunks], Iterator[bytes]]


FORMATS = {
    "csv": Format("text/csv", write_csv),
    "xlsx": Format("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", write_xlsx),
}


def _cells(row: Row) -> Cells:
    return row.id, row.author, row.created_at.isoformat(), as_text(row.body)


def _taken(buffer: io.StringIO) -> bytes:
    data = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return data


def _write_sheet(book: Workbook, rows: Iterator[Row]) -> bool:
    """Fill a sheet; return whether it is full."""
    sheet = book.create_sheet()
    sheet.append(Row._fields)
    for number, row in enumerate(rows, start=2):
        *numbers, body = _cells(row)
        # XML allows no control characters.
        sheet.append((*numbers, ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", body)))
        if number == SHEET_ROWS:
            return True
    return False


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
