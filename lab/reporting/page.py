"""The report as one HTML file without other files."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab.reporting import first_screen, plots, tables
from lab.reporting.comparison import answer, presentation_of, published_beside, verdicts
from lab.reporting.meanings import MEANINGS
from lab.results.result import Result
from lab.results.summary import Summary
from lab.results.verdict import KINDS

HERE = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader([HERE, HERE.parent / "bench", HERE.parent / "advise"]),
    autoescape=True,
    undefined=StrictUndefined,
)
TEMPLATES.globals["script"] = Markup((HERE / "tables.js").read_text())  # noqa: S704  our own


def as_html(results: Sequence[Result], compared: Sequence[Summary], folder: Path) -> str:
    """Return the page; its links to lessons work from a folder inside the repository."""
    presentation = presentation_of(compared)
    kinds = [KINDS[summary.status] for summary in compared]
    return TEMPLATES.get_template("page.html").render(
        title=tables.title(results),
        tried=first_screen.tried(results, compared),
        advice=first_screen.advice(compared),
        lesson=first_screen.lesson(presentation.lesson, folder),
        axis=presentation.axis,
        meanings=MEANINGS,
        answer=answer(compared),
        verdicts=verdicts(compared),
        machine=tables.machine(results),
        headline=Markup(headline(compared)),  # noqa: S704  our own drawing
        columns=tables.labels(presentation.columns),
        rows=[
            {"kind": kind, "cells": cells}
            for kind, cells in zip_longest(kinds, tables.rows(compared), fillvalue="published")
        ],
        remarks=tables.remarks(results, compared),
        plots=list(_plots(compared, folder)),
        errors=tables.errors(results),
        variants=[_variant(summary) for summary in compared],
        limitations=tables.limitations(results, compared),
    )


def headline(compared: Sequence[Summary]) -> str:
    """Draw the experiment's main figure, beside what was published."""
    presentation = presentation_of(compared)
    column = presentation.headline
    marks = [
        plots.Mark(one.what, one.figures[column.label], one.figures.get("success"))
        for one in published_beside(compared)
        if column.label in one.figures
    ]
    is_bound = presentation.more_is_better and not presentation.measures_generator
    offered = max(summary.results[0].offered_rps for summary in compared) if is_bound else None
    return plots.bars(compared, column.figure, presentation.axis, marks, offered)


def _plots(compared: Sequence[Summary], folder: Path) -> Iterator[dict[str, object]]:
    results = [result for summary in compared for result in summary.results]
    for plot in presentation_of(compared).pictures:
        if not any(map(plot.data, results)):
            continue
        yield {
            "heading": plot.heading,
            "text": plot.text,
            "lesson": first_screen.lesson(plot.lesson, folder),
            "svg": Markup(plot.draw(compared)),  # noqa: S704  our own drawing
        }


def _variant(summary: Summary) -> dict[str, object]:
    result = summary.results[0]
    env = result.environment
    servers = ", ".join(f"{role}: {version}" for role, version in env["servers"].items())
    packages = ", ".join(f"{name} {version}" for name, version in env["packages"].items())
    settings = " ".join(f"{name}={value}" for name, value in env["settings"].items())
    memory = ", ".join(f"{role} {mib:,.0f} MiB" for role, mib in result.memory_mib.items() if mib)
    facts = {
        "settings": settings,
        "servers": servers,
        "packages": packages,
        "memory": memory,
        "durability given away": "; ".join(env["durability_given_away"]) or "none",
        "runs": ", ".join(one.started_at for one in summary.results),
    }
    return {"name": summary.name, "command": env["command"], "facts": list(facts.items())}
