"""Tables of text, for a page, as Markdown, and in a terminal."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.box import SIMPLE
from rich.table import Table as RichTable
from rich.text import Text

FIGURE = re.compile(r"(≥ |<)?[\d-]|not measured|never|$")
TERMINAL = {"lost": "red", "doubtful": "yellow", "short": "yellow"}
"""Colours of chips; red is for lost deliveries only."""


class Chip(NamedTuple):
    """A text whose kind has a shape and a colour on a page: clean, lost, unknown and so on."""

    kind: str
    text: str
    colour: str = ""
    """Of a swatch before the text."""

    def __str__(self) -> str:
        return self.text


Cell = str | Chip


@dataclass(frozen=True)
class Table:
    kind = "table"
    heading: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text: str = ""
    brief: Collection[str] = ()
    """Columns that a terminal and the cards on a phone show; none: all."""

    def is_figures(self, at: int) -> bool:
        """Return whether a column holds figures, which are aligned to the right."""
        return at > 0 and all(FIGURE.match(str(row[at])) for row in self.rows)

    def as_markdown(self) -> str:
        rules = ["---:" if self.is_figures(at) else "---" for at in range(len(self.head))]
        lines = "\n".join(map(_line, [self.head, rules, *self.rows]))
        return "\n\n".join(filter(None, (f"## {self.heading}", self.text, lines)))

    def as_rich(self) -> RichTable:
        table = RichTable(title=self.heading, box=SIMPLE)
        shown = [at for at, it in enumerate(self.head) if not self.brief or it in self.brief]
        for at in shown:
            table.add_column(
                self.head[at],
                justify="right" if self.is_figures(at) else "left",
                no_wrap=bool(self.brief) or not at,
            )
        for row in self.rows:
            table.add_row(*(_rich(row[at]) for at in shown))
        return table


def _line(cells: Iterable[Cell]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _rich(cell: Cell) -> Text:
    return Text(str(cell), style=TERMINAL.get(cell.kind, "") if isinstance(cell, Chip) else "")
