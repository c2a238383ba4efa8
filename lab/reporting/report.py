"""From a folder of results to tables, a page, and their data."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from lab.progress import print_whole
from lab.reporting import plots
from lab.reporting.comparison import summaries, verdicts
from lab.reporting.page import as_html, headline
from lab.reporting.tables import COLOURS, as_markdown, as_table, remarks
from lab.results.result import Result, results_of
from lab.results.verdict import HARM


def report(folder: Path) -> int:
    """Print the comparison, write it beside the results, and return the exit status.

    Writes report.html, report.md, its first picture as headline.svg, results.csv (a row a run) and
    results.json. Raises ValueError if there are no results.
    """
    results = results_of(folder)
    compared = summaries(results)
    print_whole(as_table(results, compared))
    Console().print(*remarks(results, compared), sep="\n")
    for about, kind, text in verdicts(compared):
        Console().print(f"{about}: {text}", style=COLOURS[kind])
    rows = list(map(_with_verdict, results))
    (folder / "results.json").write_text(json.dumps(rows) + "\n")
    _write_csv(folder / "results.csv", rows)
    (folder / "report.md").write_text(as_markdown(results, compared))
    (folder / "report.html").write_text(as_html(results, compared, folder))
    (folder / "headline.svg").write_text(plots.standing_alone(headline(compared)))
    return max((summary.status for summary in compared), key=HARM)


def _with_verdict(result: Result) -> dict[str, Any]:
    """Return a run with its verdict; of an overload that of its worst step."""
    worst = max(summaries([result]), key=lambda it: HARM(it.status))
    verdict = {name: getattr(worst, name) for name in ("deliveries", "figures", "objection")}
    return asdict(result) | {"verdict": verdict}


def _write_csv(path: Path, results: Sequence[dict[str, Any]]) -> None:
    rows = [dict(_flat("", result)) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(rows)


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    """Return the single figures of a result by dotted names; lists are left to the JSON."""
    if isinstance(value, dict):
        return [pair for name, it in value.items() for pair in _flat(f"{prefix}.{name}", it)]
    return [] if isinstance(value, list | tuple) else [(prefix[1:], value)]
