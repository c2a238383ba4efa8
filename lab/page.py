"""The report as one page that needs nothing else."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab import plots, tables
from lab.comparison import Line, answer
from lab.experiments import EXPERIMENTS
from lab.result import Result

PAGE = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
).get_template("page.html")


def as_html(results: Sequence[Result], compared: Sequence[Line]) -> str:
    published = EXPERIMENTS[results[0].experiment].published
    return PAGE.render(
        title=tables.title(results),
        answer=answer(compared),
        machine=tables.machine(results),
        rates=Markup(plots.rates(compared, published)),  # noqa: S704  our own drawing
        columns=tables.COLUMNS,
        rows=[
            *({"kind": _kind(line), "cells": tables.cells(line)} for line in compared),
            *({"kind": "published", "cells": tables.published_cells(p)} for p in published),
        ],
        plots=list(_plots(compared)),
        errors=tables.errors(results),
        variants=[_variant(line) for line in compared],
        limitations=tables.limitations(results),
    )


def _kind(line: Line) -> str:
    return "measured" if line.as_expected else "failed"


def _plots(compared: Sequence[Line]) -> Iterator[tuple[str, str, Markup]]:
    for heading, text, plot in (
        (
            "Latency",
            "The share of posts that were answered within a time, from every request's own time.",
            plots.latency,
        ),
        (
            "Backlog",
            "Posts without a receipt: a strategy that answers quickly may be delivering late.",
            plots.backlog,
        ),
        ("Where the CPU went", "Cores busy within the window.", plots.cpu),
        (
            "What a million deliveries cost",
            "CPU seconds of the whole service, requests included and Locust not.",
            plots.cost,
        ),
    ):
        yield heading, text, Markup(plot(compared))  # noqa: S704  our own drawing


def _variant(line: Line) -> dict[str, object]:
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
    return {"name": line.variant.name, "command": env["command"], "facts": list(facts.items())}
