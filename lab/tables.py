"""The comparison as tables, for the terminal and as Markdown."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE
from rich.table import Table

from lab.comparison import Figure, Line, answer
from lab.experiments import EXPERIMENTS, Published
from lab.result import Result

COLUMNS = (
    *("variant", "audit", "offered /s", "posts/s", "success", "mean ms", "p95 ms", "p99 ms"),
    *("deliveries/s", "lag p50 ms", "lag p99 ms", "drain s", "cores busy"),
)
IN_TERMINAL = ("variant", "audit", "posts/s", "success", "mean ms", "lag p99 ms", "drain s")
"""What a narrow window has room for; the report has all columns."""
LIMITATIONS = (
    "Everything ran on one machine: clients, app servers, workers and database share its cores.",
    "Figures are of the measured window alone, after a warm-up; with closed arrivals a user who "
    "waits offers nothing, and a request that still waits when the window ends is in no figure, "
    "which flatters the latency of an overloaded variant.",
    "Lag ends at the receipt, which is written just before its transaction commits.",
    "Published figures are their authors', on their machines, and were never audited.",
)


def cells(line: Line) -> list[str]:
    return [
        line.variant.name,
        audit(line),
        number(line.median(lambda r: r.offered_rps)),
        spread(line, lambda r: r.achieved_rps),
        percent(line.median(lambda r: r.success)),
        number(line.median(lambda r: r.latency_ms.get("mean"))),
        number(line.median(lambda r: r.latency_ms.get("p95"))),
        spread(line, lambda r: r.latency_ms.get("p99")),
        number(line.median(lambda r: r.deliveries_per_s)),
        number(line.median(lambda r: r.lag_ms.get("p50"))),
        spread(line, lambda r: r.lag_ms.get("p99")),
        number(line.median(lambda r: r.drain_s)),
        number(line.median(lambda r: r.cores_busy)),
    ]


def published_cells(published: Published) -> list[str]:
    known = [
        f"published: {published.what}",
        "none",
        "500",
        number(published.posts_per_s),
        percent(published.success),
        number(published.mean_ms),
        number(published.p95_ms),
    ]
    return known + ["-"] * (len(COLUMNS) - len(known))


def rows(results: Sequence[Result], compared: Sequence[Line]) -> list[list[str]]:
    published = EXPERIMENTS[results[0].experiment].published
    return [*map(cells, compared), *map(published_cells, published)]


def audit(line: Line) -> str:
    worst = line.worst_audit
    if worst is None:
        return "DID NOT FINISH"
    verdict = "clean" if worst["ok"] else _findings(worst)
    if line.as_expected:
        return verdict if worst["ok"] else f"{verdict} (as expected)"
    return f"FAILED: {verdict}"


def as_table(results: Sequence[Result], compared: Sequence[Line]) -> Table:
    table = Table(title=title(results), caption=machine(results), box=SIMPLE)
    for column in IN_TERMINAL:
        words = column in ("variant", "audit")
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "audit")
    for line in compared:
        table.add_row(*_in_terminal(cells(line)), style=None if line.as_expected else "red")
    table.add_section()
    for published in EXPERIMENTS[results[0].experiment].published:
        table.add_row(*_in_terminal(published_cells(published)), style="dim")
    return table


def as_markdown(results: Sequence[Result], compared: Sequence[Line]) -> str:
    failed = errors(results)
    parts = [
        f"# {title(results)}",
        answer(compared),
        machine(results),
        "\n".join(_markdown_row(row) for row in [COLUMNS, DASHES, *rows(results, compared)]),
        *(["## What failed", "\n".join(f"- {error}" for error in failed)] if failed else []),
        "## Limitations",
        "\n".join(f"- {limitation}" for limitation in limitations(results)),
    ]
    return "\n\n".join(parts) + "\n"


DASHES = ["---"] * len(COLUMNS)


def title(results: Sequence[Result]) -> str:
    repeats = max(result.repeat for result in results)
    runs = f", medians of {repeats} runs (smallest and largest)" if repeats > 1 else ""
    return f"{results[0].experiment}{runs}"


def machine(results: Sequence[Result]) -> str:
    env = results[0].environment
    speeds = [r.environment["calibration_ms"] for r in results]
    return (
        f"{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, Python {env['python']}, "
        f"commit {env['commit'] or 'unknown'}, {results[0].started_at}; calibration "
        f"{min(speeds):g} … {max(speeds):g} ms"
    )


def errors(results: Sequence[Result]) -> list[str]:
    return [f"{r.variant}, run {r.repeat}: {error}" for r in results for error in r.errors]


def limitations(results: Sequence[Result]) -> list[str]:
    durability = {item for r in results for item in r.environment["durability_given_away"]}
    saturated = sorted({r.variant for r in results if r.generator_saturated})
    speeds = [r.environment["calibration_ms"] for r in results]
    drift = (
        f"The machine itself was {max(speeds) / min(speeds):.2f} times slower in some runs than in "
        "others (calibration); differences of that size say nothing."
    )
    generator = f"Locust itself was the limit of {', '.join(saturated)}." if saturated else None
    return [*LIMITATIONS, drift, *([generator] if generator else []), *sorted(durability)]


def number(value: float | None) -> str:
    """Write a figure with the digits that mean something."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"


def spread(line: Line, figure: Figure) -> str:
    """Write the median, and of several runs the smallest and the largest too."""
    middle = number(line.median(figure))
    low, high = map(number, line.spread(figure))
    return middle if low == high or middle == "-" else f"{middle} ({low} … {high})"


def _findings(audit: dict[str, int]) -> str:
    kinds = ("missing", "duplicated", "unexpected")
    found = [
        f"{audit[kind] / max(1, audit['expected']):.1%} {kind}" for kind in kinds if audit[kind]
    ]
    return ", ".join(found)


def _in_terminal(row: Sequence[str]) -> list[str]:
    return [cell for column, cell in zip(COLUMNS, row, strict=True) if column in IN_TERMINAL]


def _markdown_row(row: Iterable[str]) -> str:
    return f"| {' | '.join(row)} |"
