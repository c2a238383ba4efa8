"""The comparison as tables, for the terminal and as Markdown."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE
from rich.table import Table

from lab.reporting.comparison import (
    answer,
    presentation_of,
    published_beside,
    verdicts,
    worst_audit,
)
from lab.reporting.formats import number
from lab.reporting.presentation import Column, Published
from lab.results import laws
from lab.results.result import Result
from lab.results.summary import Summary
from lab.results.verdict import KINDS

LIMITATIONS = (
    "Figures are of the measured window alone, after a warm-up. With closed arrivals a user who "
    "waits offers nothing. A latency with ≥ is a lower bound: its p99 is above a fifth of the "
    "window, so the window ended before the longest answers came.",
    "Published figures are their authors', on their machines, and were never audited.",
)
ONE_MACHINE = (
    "Everything ran on one machine: clients, app servers, workers and database share its cores."
)
COLOURS = {"measured": "", "unsound": "yellow", "failed": "red"}
ELSEWHERE = (
    "Some servers were not started by the laboratory ({roles}): their CPU and memory are not "
    "measured, and no variant is ranked by cores."
)


def labels(columns: Sequence[Column]) -> list[str]:
    return ["variant", "audit", "figures", *(column.label for column in columns)]


def cells(summary: Summary, columns: Sequence[Column]) -> list[str]:
    figures = (cell(summary, column) for column in columns)
    return [summary.name, audit(summary), summary.figures, *figures]


def cell(summary: Summary, column: Column) -> str:
    shown = spread(summary, column) if column.spread else _middle(summary, column)
    return f"≥ {shown}" if column.is_latency and summary.is_cut_off and shown != "-" else shown


def published_cells(published: Published, columns: Sequence[Column]) -> list[str]:
    figures = [column.write(published.figures.get(column.label)) for column in columns]
    return [f"published: {published.what}", "none", "not judged", *figures]


def rows(compared: Sequence[Summary]) -> list[list[str]]:
    columns = presentation_of(compared).columns
    measured = [cells(summary, columns) for summary in compared]
    return [*measured, *(published_cells(one, columns) for one in published_beside(compared))]


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


def as_table(results: Sequence[Result], compared: Sequence[Summary]) -> Table:
    """Return the brief columns, which fit into a terminal."""
    brief = [column for column in presentation_of(compared).columns if column.brief]
    table = without_rows(brief, title(results), machine(results))
    for summary in compared:
        table.add_row(*cells(summary, brief), style=COLOURS[KINDS[summary.status]])
    table.add_section()
    for published in published_beside(compared):
        table.add_row(*published_cells(published, brief), style="dim")
    return table


def without_rows(columns: Sequence[Column], title: str, caption: str | None) -> Table:
    table = Table(title=title, caption=caption, box=SIMPLE)
    for at, label in enumerate(labels(columns)):
        table.add_column(label, justify="right" if at > 2 else "left", no_wrap=True)
    return table


def as_markdown(results: Sequence[Result], compared: Sequence[Summary]) -> str:
    failed = errors(results)
    head = labels(presentation_of(compared).columns)
    parts = [
        f"# {title(results)}",
        answer(compared),
        *(f"**{about}**: {text}" for about, _, text in verdicts(compared)),
        machine(results),
        "\n".join(map(markdown_row, [head, ["---"] * len(head), *rows(compared)])),
        *_markdown_list(remarks(results, compared)),
        *(["## Errors", *_markdown_list(failed)] if failed else []),
        "## Limitations",
        *_markdown_list(limitations(results, compared)),
    ]
    return "\n\n".join(parts) + "\n"


def remarks(results: Sequence[Result], compared: Sequence[Summary]) -> list[str]:
    unsound = [f"{_run(result)}: {law}" for result in results for law in laws.broken(result)]
    own = [remark for summary in compared for remark in presentation_of([summary]).remarks(summary)]
    cut_off = [_implied(summary) for summary in compared if summary.is_cut_off]
    return [*unsound, *own, *cut_off, *presentation_of(compared).conclusions(compared)]


def _implied(summary: Summary) -> str:
    """Say which mean latency the cut-off run would have shown, had it been long enough."""
    mean_s = summary.median(laws.implied_mean_s)
    by_law = "" if mean_s is None else f": by Little's law the mean is {number(mean_s)} s"
    return f"{summary.name}: the window was too short for its latencies{by_law}."


def title(results: Sequence[Result]) -> str:
    repeats = max(result.repeat for result in results)
    runs = f", medians of {repeats} runs (smallest and largest)" if repeats > 1 else ""
    return f"{results[0].experiment}{runs}"


def machine(results: Sequence[Result]) -> str:
    env = results[0].environment
    speeds = [r.environment["calibration_ms"] for r in results]
    servers = sorted({name for r in results for name in r.environment["servers"].values()})
    software = [f"Python {env['python']}", *servers]
    return (
        f"{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, "
        f"{', '.join(software)}, "
        f"commit {env['commit'] or 'unknown'}, {results[0].started_at}; calibration "
        f"{min(speeds):g} … {max(speeds):g} ms"
    )


def errors(results: Sequence[Result]) -> list[str]:
    return [f"{_run(result)}: {error}" for result in results for error in result.errors]


def _run(result: Result) -> str:
    return f"{', '.join(filter(None, (result.variant, result.load)))}, run {result.repeat}"


def limitations(results: Sequence[Result], compared: Sequence[Summary]) -> list[str]:
    durability = {item for r in results for item in r.environment["durability_given_away"]}
    saturated = sorted(
        {summary.variant.name for summary in compared if summary.generator_saturated}
    )
    speeds = [r.environment["calibration_ms"] for r in results]
    drift = (
        f"The machine itself was {max(speeds) / min(speeds):.2f} times slower in some runs than in "
        "others (calibration); differences of that size say nothing."
    )
    generator = f"Locust itself was the limit of {', '.join(saturated)}." if saturated else None
    own = presentation_of(compared).limitations
    found = {item for r in results for item in r.environment.get("limitations", ())}
    return [
        *(_where(results), *LIMITATIONS, *own, drift),
        *([generator] if generator else []),
        *(*sorted(found), *sorted(durability)),
    ]


def _where(results: Sequence[Result]) -> str:
    elsewhere = {role for r in results for role, used in r.cpu_s.items() if used is None}
    return ELSEWHERE.format(roles=", ".join(sorted(elsewhere))) if elsewhere else ONE_MACHINE


def _middle(summary: Summary, column: Column) -> str:
    return column.write(summary.median(column.figure))


def spread(summary: Summary, column: Column) -> str:
    """Format the median, with the smallest and the largest of several runs."""
    middle = _middle(summary, column)
    low, high = map(column.write, summary.spread(column.figure))
    return middle if low == high or middle == "-" else f"{middle} ({low} … {high})"


def _findings(audit: dict[str, int], kinds: Sequence[str]) -> str:
    return ", ".join(f"{_share(audit, kind)} {kind}" for kind in kinds if audit[kind])


def _share(audit: dict[str, int], kind: str) -> str:
    """Return the share of what was expected if the audit knows it, else the count."""
    expected = audit.get("expected")
    return f"{audit[kind]:,}" if expected is None else f"{audit[kind] / max(1, expected):.1%}"


def _markdown_list(items: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {item}" for item in items)] if items else []


def markdown_row(row: Iterable[str]) -> str:
    return f"| {' | '.join(row)} |"
