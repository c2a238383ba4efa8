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
from lab.reporting.comparison import summaries
from lab.reporting.page import as_html, headline
from lab.reporting.tables import as_markdown, as_table, remarks
from lab.results.result import Result, read_results


def report(folder: Path) -> bool:
    """Print the comparison, write it beside the results, and return whether all went as expected.

    Writes report.html, report.md, its first picture as headline.svg, results.csv (a row a run) and
    results.json. Raises ValueError if there are no results.
    """
    results = list(read_results(folder))
    if not results:
        raise ValueError(f"there are no results in {folder}")
    compared = summaries(results)
    print_whole(as_table(results, compared))
    Console().print(*remarks(compared), sep="\n")
    (folder / "results.json").write_text(json.dumps([asdict(r) for r in results]) + "\n")
    _write_csv(folder / "results.csv", results)
    (folder / "report.md").write_text(as_markdown(results, compared))
    (folder / "report.html").write_text(as_html(results, compared, folder))
    (folder / "headline.svg").write_text(plots.standing_alone(headline(compared)))
    return all(summary.as_expected for summary in compared)


def _write_csv(path: Path, results: Sequence[Result]) -> None:
    rows = [dict(_flat("", asdict(result))) for result in results]
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
