"""Tables, figures and pictures in the documents, written from results.

``<!-- figures: FOLDER+FOLDER: COLUMN, COLUMN -->…<!-- /figures -->`` holds a table of variants,
``<!-- figures: FOLDER VARIANT: COLUMN -->…<!-- /figures -->`` a single figure.
"""

import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

from lab.reporting import plots
from lab.reporting.comparison import Comparison
from lab.reporting.formats import number, percent, where
from lab.reporting.presentation import Column
from lab.results.result import Result, results_of
from lab.results.summary import Summary

COMMITTED = Path("docs/example")
TEXTS = [
    Path("README.md"),
    *sorted(Path("docs").glob("*.md")),
    *sorted([*Path("lab").rglob("lesson.md"), *Path("replays").rglob("lesson.md")]),
]
MARKED = re.compile(
    r"(<!-- figures: (\S+?)(?: (\S+))?: (.*?) -->)(.*?)(<!-- /figures -->)", re.DOTALL
)
MEASURED = (
    *("accounts", "config", "db", "feed", "launch", "locustfiles", "runtime", "web", "workers"),
    *("compose/mysql", "constraints.txt", "lab/experiments", "lab/results", "lab/running"),
    *("lab/systems", ":(exclude)*.md"),
)
"""What results depend on."""
WAYS = {
    "mysql_tuned-inline-rowwise": "in the request, row by row",
    "mysql_tuned-task-roundtrip": "queued, friend by friend",
    "mysql_tuned-outbox-ring": "batched, by a drainer",
}
"""Of the picture that begins the README."""
PICTURE = Path("docs/pictures/three-ways.svg")


def write(text: str, folder: Path = COMMITTED) -> str:
    """Return a text with the figures of a folder's results; without results a part stays as it is.

    Raises ValueError for an unknown column or variant.
    """

    def written(found: re.Match[str]) -> str:
        begin, names, variant, columns, _, end = found.groups()
        folders = [folder / name for name in names.split("+")]
        if not all(path.exists() for path in folders):
            return found[0]
        compared, labels = [comparison(path) for path in folders], columns.split(", ")
        new = _cell(compared[0], variant, labels[0]) if variant else _table(compared, labels)
        return f"{begin}{new}{end}"

    return MARKED.sub(written, text)


@cache
def comparison(folder: Path) -> Comparison:
    return Comparison(results_of(folder))


def _table(compared: Sequence[Comparison], labels: Sequence[str]) -> str:
    rows = [["variant", *labels], ["---", *("---:" for _ in labels)]]
    for one in compared:
        usual = "" if one is compared[0] else _unusual(one.results[0], compared[0].results[0])
        for summary in one.summaries:
            cells = [_write(one, summary, label) for label in labels]
            rows.append([f"`{summary.name}`{usual}", *cells])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["", "", *lines, "", source(compared), ""])


def _unusual(result: Result, usual: Result) -> str:
    """Say in what the load and the people of a run differ from the usual ones."""
    seed, arrivals = result.environment["seed"], result.balance and result.balance.arrivals
    people = "" if seed == usual.environment["seed"] else f", {seed['people']:,} people"
    same = usual.balance and usual.balance.arrivals == arrivals
    return people if same else f"{people}, {arrivals} load"


def _cell(compared: Comparison, variant: str, label: str) -> str:
    found = [summary for summary in compared.summaries if summary.name == variant]
    if not found:
        raise ValueError(f"there is no {variant!r} among {', '.join(compared.colours)}")
    return _write(compared, found[0], label)


def _write(compared: Comparison, summary: Summary, label: str) -> str:
    if label == "audit":
        return compared.presentation.audit(summary)
    columns = {column.label: column for column in compared.presentation.columns}
    if label not in columns:
        raise ValueError(f"there is no column {label!r} among {', '.join(columns)}")
    return columns[label].cell(summary)


def source(compared: Sequence[Comparison]) -> str:
    """Say what a table is of: runs, machine, servers, commit, and whether the code has changed."""
    results = [result for one in compared for result in one.results]
    environments = [result.environment for result in results]
    counts = sorted({len(summary.results) for one in compared for summary in one.summaries})
    several = f"n = {' or '.join(map(str, counts))}"
    interval = ", medians with 95 % bootstrap intervals" if counts[-1] > 1 else ""
    begun = min(result.started_at for result in results)
    older = older_code({str(env["commit"]) for env in environments})
    return f"{several}{interval}; {begun:.10}; {where(environments)}{older}."


def older_code(commits: Collection[str]) -> str:
    """Return a remark if what results depend on has changed since their commit."""
    for commit in commits:
        command = ("git", "diff", "--quiet", commit, "--", *MEASURED)
        if subprocess.run(command, capture_output=True).returncode == 1:
            return " (**older code**)"
    return ""


def draw(folder: Path = COMMITTED) -> str:
    """Return the picture of the same work done in three ways."""
    compared = comparison(folder / "headline")
    found = {summary.name: summary for summary in compared.summaries}
    bars = [_bar(compared, found[name], text) for name, text in WAYS.items() if name in found]
    return plots.bars(bars, compared.results[0].offered_rps).alone


def _bar(compared: Comparison, summary: Summary, text: str) -> plots.Bar:
    columns: Mapping[str, Column] = {it.label: it for it in compared.presentation.columns}
    colour = compared.colours[summary.variant.name]
    rate, screen = columns["posts/s"], columns["screen p50 ms"]
    seen_ms, shown = summary.median(screen.figure), summary.median(lambda r: r.shown)
    seen = f"{screen.bound(summary)}{number((seen_ms or 0) / 1000)} s"
    label = (
        f"{number(summary.median(rate.figure))} posts/s; half of the friends saw it within {seen}"
    )
    if shown is not None and shown < 1:
        label += f", {percent(1 - shown)} never"
    return plots.bar_of(summary, rate.figure, colour, label, name=text)
