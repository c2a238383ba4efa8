"""Exports as files: the same cells in each format.

A cell that begins like a formula would be one to the spreadsheet that opens the file, with the
rights of whoever opens it. It gets an apostrophe in front, which spreadsheets take for "this is
text" (docs/decisions/0020).
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from feed.exports.selectors import Row

Chunks = Iterable[list[Row]]
Cells = tuple[int, int, str, str]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
SHEET_ROWS = 1_048_576
"""As many as a sheet may have; what goes beyond them goes on in the next one."""
PIECE = 64 * 1024


def as_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
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
    """Yield the file once it is finished on disk; its table of contents comes last."""
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
        # XML has no place for control characters.
        sheet.append((*numbers, ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", body)))
        if number == SHEET_ROWS:
            return True
    return False


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
