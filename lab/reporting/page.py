"""The page of a report: the same content as one HTML file, as Markdown, and in a terminal."""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from lab.progress import print_whole
from lab.reporting.meanings import MEANINGS
from lab.reporting.plots import Drawing

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
READING = "docs/reading-a-report.md"
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
FIGURE = re.compile(r"(≥ |> |<)?[\d-]|not measured|never|$")
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


@dataclass(frozen=True)
class Picture:
    kind = "picture"
    heading: str
    text: str
    drawing: Drawing
    file: str = ""
    """Name of the picture beside the page, if it is kept."""

    def as_markdown(self) -> str:
        return f"![{self.heading}]({self.file})\n\n{self.text}" if self.file else ""


@dataclass(frozen=True)
class Listing:
    kind = "listing"
    text = ""
    heading: str
    items: Sequence[str]

    def as_markdown(self) -> str:
        return "\n".join([f"## {self.heading}", "", *(f"- {item}" for item in self.items)])


@dataclass(frozen=True)
class Command:
    """How to repeat something, and what it ran with."""

    name: str
    command: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Commands:
    kind = "commands"
    text = ""
    heading: str
    commands: Sequence[Command]

    def as_markdown(self) -> str:
        return ""


Part = Table | Picture | Listing | Commands


@dataclass(frozen=True)
class Verdict:
    """What was found about something, with those that it was found of."""

    about: str
    found: Sequence[tuple[Chip, str]]

    def __str__(self) -> str:
        return " ".join(f"{chip}{text}." for chip, text in self.found)


@dataclass(frozen=True)
class Page:
    title: str
    answer: str
    """What came out, for somebody who knows nothing of it."""
    facts: Mapping[str, str]
    """Further lines of the first screen, by what they are about."""
    parts: Sequence[Part]
    verdicts: Sequence[Verdict] = ()
    lesson: str = READING
    """The page of the repository that explains it."""
    files: Sequence[str] = ()
    """Data beside the page."""

    def write(self, path: Path) -> Path:
        """Write the page, and beside it its pictures that have a name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        html = TEMPLATES.get_template("page.html").render(
            page=self,
            meanings=MEANINGS,
            lessons=[lesson(doc, path.parent) for doc in dict.fromkeys((self.lesson, READING))],
            script=Markup((HERE / "tables.js").read_text()),  # noqa: S704  our own
            svg=Markup,
        )
        path.write_text(html)
        for part in self.parts:
            if isinstance(part, Picture) and part.file:
                (path.parent / part.file).write_text(part.drawing.alone)
        return path

    def as_markdown(self) -> str:
        verdicts = [f"**{verdict.about}**: {verdict}" for verdict in self.verdicts]
        facts = [f"**{about}**: {text}" for about, text in self.facts.items()]
        parts = filter(None, (part.as_markdown() for part in self.parts))
        return "\n\n".join([f"# {self.title}", self.answer, *verdicts, *facts, *parts]) + "\n"

    def show(self) -> None:
        """Print the tables and what came out."""
        tables = [part.as_rich() for part in self.parts if isinstance(part, Table)]
        print_whole(*tables)
        console = Console(highlight=False, markup=False)
        for part in self.parts:
            if isinstance(part, Listing) and part.heading != "Limitations":
                console.print(f"{part.heading}:", *part.items, sep="\n")
        console.print(self.answer)
        for verdict in self.verdicts:
            kinds = [chip.kind for chip, _ in verdict.found if chip.kind in TERMINAL]
            worst = TERMINAL[kinds[0]] if kinds else ""
            console.print(f"{verdict.about}: {verdict}", style=worst)


def lesson(path: str, folder: Path) -> dict[str, str | None]:
    """Return a page of the repository, with a link where the report lies in the repository."""
    here = folder.resolve()
    is_inside = here.is_relative_to(REPOSITORY)
    return {"path": path, "link": os.path.relpath(REPOSITORY / path, here) if is_inside else None}


def _line(cells: Iterable[Cell]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _rich(cell: Cell) -> Text:
    return Text(str(cell), style=TERMINAL.get(cell.kind, "") if isinstance(cell, Chip) else "")
