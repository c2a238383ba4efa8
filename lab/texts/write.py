"""Tables, figures and pictures in the documents, written from results.

``<!-- figures: FOLDER+FOLDER: COLUMN, COLUMN -->…<!-- /figures -->`` holds a table of variants,
with ``FOLDER VARIANT`` or ``FOLDER VARIANT,LOAD`` a figure, or the cells of a row, and with
``FOLDER by-load`` a table of variants by loads, whose cells say what isn't 0, of one column without
its name.
"""

import ast
import re
import subprocess
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from lab.experiments import PATHS
from lab.experiments.fanout.presentation import POSTS, SCREEN_P50, SHOWN
from lab.reporting import plots
from lab.reporting.comparison import Comparison
from lab.reporting.formats import number, where
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
BY_LOAD = "by-load"
NOTHING = ("0", "-")
MEASURED = (
    *(
        "accounts",
        "config",
        "db",
        "feed",
        "launch",
        "locustfiles",
        "runtime",
        "stream",
        "web",
        "workers",
    ),
    *("compose/mysql", "compose/postgresql", "constraints.txt"),
    *(":(glob)lab/experiments/*.py", "lab/experiments/fanout"),
    *("lab/results", "lab/running", "lab/systems", ":(exclude)*.md", ":(exclude)*presentation.py"),
    ":(exclude)locustfiles/ending.py",  # of a run by hand: the laboratory audits by itself
)
"""What results depend on, beside the folder of their experiment; a replay's on ``REPLAYS`` too."""
REPLAYS = (":(glob)replays/*.py", "replays/databases")
INJECTING_FAULTS = {"lab/experiments/faults", "lab/experiments/promises"}
"""Experiments that depend on ``lab/faults`` too."""
WAYS = (
    ("waiting", "mysql_tuned-inline-rowwise", "in the request"),
    ("headline", "mysql_tuned-task-roundtrip", "queued"),
    ("headline", "mysql_tuned-outbox-ring", "batched"),
)
"""Folder, variant and words of the picture that begins the README."""
PICTURE = Path("docs/pictures/three-ways.svg")


def write(text: str, folder: Path = COMMITTED, *, short: bool = False) -> str:
    """Return a text with the figures of a folder's results; without results a part stays as it is.

    ``short``: some variants were not run, and their figures stay too. Raises ValueError for an
    unknown column, and else for an unknown variant.
    """

    def written(found: re.Match[str]) -> str:
        begin, names, variant, columns, _, end = found.groups()
        folders = [folder / name for name in names.split("+")]
        if not all(path.exists() for path in folders):
            return found[0]
        compared, labels = [comparison(path) for path in folders], columns.split(", ")
        name = (variant or "").replace(",", ", ")
        if not variant:
            new = _table(compared, labels)
        elif variant == BY_LOAD:
            new = _by_load(compared, labels)
        elif short and name not in compared[0].colours:
            return found[0]
        else:
            new = _row(compared[0], name, labels)
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
    return _as_text(rows, compared)


def _by_load(compared: Sequence[Comparison], labels: Sequence[str]) -> str:
    cells: dict[str, dict[str, str]] = {}
    for one in compared:
        for summary in one.summaries:
            found = [(_write(one, summary, label), label) for label in labels]
            words = [
                value if len(labels) == 1 else f"{value} {label}"
                for value, label in found
                if value not in NOTHING
            ]
            cells.setdefault(summary.variant.name, {})[summary.load] = ", ".join(words) or "-"
    loads = list(dict.fromkeys(load for row in cells.values() for load in row))
    rows = [["variant", *loads], ["---"] * (len(loads) + 1)]
    listed = [name for one in compared for name in one.experiment.variants]
    rows += [
        [f"`{name}`", *(cells[name].get(load, "") for load in loads)]
        for name in dict.fromkeys([*listed, *sorted(cells)])
        if name in cells
    ]
    return _as_text(rows, compared)


def _as_text(rows: Sequence[Sequence[str]], compared: Sequence[Comparison]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["", "", *lines, "", source(compared), ""])


def _unusual(result: Result, usual: Result) -> str:
    """Say in what the load and the people of a run differ from the usual ones."""
    people, arrivals = result.environment["seed"]["people"], _arrivals(result)
    return "".join(
        f", {text}"
        for text, differs in (
            (f"{people:,} people", people != usual.environment["seed"]["people"]),
            (f"{arrivals} load", arrivals != _arrivals(usual)),
            (f"{result.window_s} s", result.window_s != usual.window_s),
        )
        if differs
    )


def _arrivals(result: Result) -> str:
    return result.balance.arrivals if result.balance else ""


def _summary(compared: Comparison, variant: str) -> Summary:
    for summary in compared.summaries:
        if summary.name == variant:
            return summary
    raise ValueError(f"there is no {variant!r} among {', '.join(compared.colours)}")


def _row(compared: Comparison, variant: str, labels: Sequence[str]) -> str:
    summary = _summary(compared, variant)
    return " | ".join(_write(compared, summary, label, spread=False) for label in labels)


def _write(compared: Comparison, summary: Summary, label: str, *, spread: bool = True) -> str:
    if label == "audit":
        return compared.presentation.audit(summary)
    column = _column(compared, label)
    return column._replace(spread=column.spread and spread).cell(summary)


def _column(compared: Comparison, label: str) -> Column:
    columns = {column.label: column for column in compared.presentation.columns}
    if label not in columns:
        raise ValueError(f"there is no column {label!r} among {', '.join(columns)}")
    return columns[label]


def source(compared: Sequence[Comparison]) -> str:
    """Say what a table is of: runs, machine, servers, commit, and whether the code has changed."""
    results = [result for one in compared for result in one.results]
    environments = [result.environment for result in results]
    counts = sorted({len(summary.results) for one in compared for summary in one.summaries})
    several = f"n = {' or '.join(map(str, counts))}"
    interval = ", medians with 95 % bootstrap intervals" if counts[-1] > 1 else ""
    begun = min(result.started_at for result in results)
    folders = {folder_of(one.experiment.name) for one in compared}
    replays = REPLAYS if any(folder.startswith("replays/") for folder in folders) else ()
    faults = ("lab/faults",) if folders & INJECTING_FAULTS else ()
    paths = (*MEASURED, *replays, *faults, *sorted(folders))
    older = older_code({str(env["commit"]) for env in environments}, paths)
    return f"{several}{interval}; {begun:.10}; {where(environments)}{older}."


def folder_of(experiment: str) -> str:
    """Return the folder that has the code of an experiment alone."""
    parts = PATHS[experiment].split(".")
    return "/".join(parts[: 2 if parts[0] == "replays" else 3])


def older_code(commits: Collection[str], paths: Sequence[str]) -> str:
    """Return a remark if the code that results depend on has changed since their commit.

    Comments and docstrings may have changed.
    """
    for commit in commits:
        command = ("git", "diff", "--name-only", commit, "--", *paths)
        changed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        if any(_code_differs(commit, path) for path in changed):
            return " (**older code**)"
    return ""


def _code_differs(commit: str, path: str) -> bool:
    """Return whether more than the comments and docstrings of a changed file has changed."""
    before = subprocess.run(("git", "show", f"{commit}:{path}"), capture_output=True, text=True)
    if not path.endswith(".py") or before.returncode or not Path(path).exists():
        return True
    return _code(before.stdout) != _code(Path(path).read_text())


def _code(source: str) -> str:
    """Return Python's code without comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(statements := getattr(node, "body", None), list):
            statements[:] = [one for one in statements if not _is_docstring(one)]
    return ast.dump(tree)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def draw(folder: Path = COMMITTED) -> str:
    """Return the picture of the same work done in three ways."""
    bars = []
    for (name, variant, text), colour in zip(WAYS, plots.SERIES, strict=False):
        summary = _summary(comparison(folder / name), variant)
        label = f"{number(summary.median(POSTS.figure))} posts/s"
        bars.append(
            plots.bar_of(summary, POSTS.figure, colour, label, name=f"{text}: {_seen(summary)}")
        )
    drawing = plots.bars(bars)
    return drawing._replace(wide=drawing.narrow).alone  # it has to be read on phones too


def _seen(summary: Summary) -> str:
    """Say when friends saw the posts."""
    seen_ms, shown = summary.median(SCREEN_P50.figure), summary.median(SHOWN.figure)
    if not seen_ms or not shown:
        return ""
    if shown < 0.5:
        return f"{100 * shown:.0f} % seen half a minute later"
    return f"half seen within {number(seen_ms / 1000)} s"
