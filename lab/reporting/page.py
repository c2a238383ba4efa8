"""The report as one page that needs nothing else."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab.reporting import plots
from lab.reporting import tables
from lab.reporting.comparison import answer, experiment_of
from lab.results.summary import Summary
from lab.results.result import Result

LAB = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader([LAB, LAB / "bench"]), autoescape=True, undefined=StrictUndefined
)


def as_html(results: Sequence[Result], compared: Sequence[Summary]) -> str:
    return TEMPLATES.get_template("page.html").render(
        title=tables.title(results),
        answer=answer(compared),
        machine=tables.machine(results),
        headline=Markup(headline(compared)),  # noqa: S704  our own drawing
        columns=tables.labels(compared),
        rows=[
            {"kind": kind, "cells": cells}
            for kind, cells in zip_longest(
                map(_kind, compared), tables.rows(compared), fillvalue="published"
            )
        ],
        remarks=tables.remarks(compared),
        plots=list(_plots(compared)),
        errors=tables.errors(results),
        variants=[_variant(line) for line in compared],
        limitations=tables.limitations(results, compared),
    )


def _kind(line: Summary) -> str:
    return "measured" if line.as_expected else "failed"


def headline(compared: Sequence[Summary]) -> str:
    """Draw the experiment's main figure, beside what was published."""
    experiment = experiment_of(compared)
    column = experiment.headline
    marks = [
        plots.Mark(one.what, one.figures[column.label], one.figures.get("success"))
        for one in experiment.published
        if column.label in one.figures
    ]
    is_limit = experiment.more_is_better and not experiment.searches
    offered = max(line.results[0].offered_rps for line in compared) if is_limit else None
    return plots.bars(compared, column.figure, experiment.axis, marks, offered)


def _plots(compared: Sequence[Summary]) -> Iterator[tuple[str, str, Markup]]:
    for heading, text, draw in experiment_of(compared).pictures:
        yield heading, text, Markup(draw(compared))  # noqa: S704  our own drawing


def _variant(line: Summary) -> dict[str, object]:
    result = line.results[0]
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
        "runs": ", ".join(one.started_at for one in line.results),
    }
    return {"name": line.name, "command": env["command"], "facts": list(facts.items())}
