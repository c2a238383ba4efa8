"""The figures of an experiment as tables: measured ones, and what was published."""

from collections.abc import Sequence

from lab.reporting.comparison import CHIPS, presentation_of, published_beside, worst_audit
from lab.reporting.plots import colours_of
from lab.reporting.presentation import Column
from lab.reporting.table import Cell, Chip, Table
from lab.results.summary import Deliveries, Summary

VERDICTS = ("variant", "audit", "figures")


def measured(compared: Sequence[Summary]) -> Table:
    """Return the table of all figures; a swatch has the colour of the variant in the pictures."""
    columns, colours = presentation_of(compared).columns, colours_of(compared)
    rows: list[list[Cell]] = [
        [
            Chip("", summary.name, colours[summary.variant.name]),
            Chip(_kind(summary), audit(summary)),
            Chip(CHIPS[summary.figures], summary.figures),
            *(cell(summary, column) for column in columns),
        ]
        for summary in compared
    ]
    return Table("All figures", labels(columns), rows, brief=brief(columns))


def published(compared: Sequence[Summary]) -> Table | None:
    """Return the columns for which somebody published a figure; None if nobody did."""
    shown = published_beside(compared)
    known = {label for one in shown for label in one.figures}
    columns = [column for column in presentation_of(compared).columns if column.label in known]
    rows: list[list[Cell]] = [
        [
            f"published: {one.what}",
            *(column.write(one.figures.get(column.label)) for column in columns),
        ]
        for one in shown
    ]
    text = "Their authors' figures, from their machines; never audited. "
    text += presentation_of(compared).published_note
    head = ["published", *(column.label for column in columns)]
    return Table("What was published", head, rows, text) if rows else None


def labels(columns: Sequence[Column]) -> list[str]:
    return [*VERDICTS, *(column.label for column in columns)]


def brief(columns: Sequence[Column]) -> list[str]:
    return labels([column for column in columns if column.brief])


def cell(summary: Summary, column: Column) -> str:
    """Format the median, of some columns with the smallest and the largest of several runs."""
    shown = column.write(summary.median(column.figure))
    low, high = map(column.write, summary.spread(column.figure))
    if column.spread and low != high and shown != "-":
        shown = f"{shown} ({low} … {high})"
    return f"≥ {shown}" if column.is_latency and summary.is_cut_off and shown != "-" else shown


def audit(summary: Summary) -> str:
    worst = worst_audit(summary)
    if worst is None:
        return "DID NOT FINISH"
    clean = "nothing to audit" if worst.get("expected") == 0 else "clean"
    verdict = clean if worst["ok"] else _findings(worst, presentation_of([summary]).findings)
    if summary.objection:
        return f"{summary.objection}: {verdict}"
    if summary.as_expected:
        return verdict if worst["ok"] else f"{verdict} (as expected)"
    return f"FAILED: {verdict}"


def _kind(summary: Summary) -> str:
    is_lost = summary.deliveries is Deliveries.LOST
    return "doubtful" if summary.objection and not is_lost else CHIPS[summary.deliveries]


def _findings(found: dict[str, int], kinds: Sequence[str]) -> str:
    return ", ".join(f"{_share(found, kind)} {kind}" for kind in kinds if found[kind])


def _share(found: dict[str, int], kind: str) -> str:
    """Return the share of what was expected if the audit knows it, else the count."""
    expected = found.get("expected")
    return f"{found[kind]:,}" if expected is None else f"{found[kind] / max(1, expected):.1%}"
