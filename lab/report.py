"""The comparison of an experiment's results, for the terminal and as Markdown."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from lab.experiments import EXPERIMENTS, Published
from lab.result import Result, read_results
from lab.variants import Variant

COLUMNS = (
    *("variant", "offered /s", "posts/s", "success", "mean ms", "p95 ms", "p99 ms"),
    *("deliveries/s", "lag p50 ms", "lag p99 ms", "drain s", "audit"),
)
IN_TERMINAL = ("variant", "posts/s", "success", "mean ms", "lag p99 ms", "drain s", "audit")
"""What a narrow window has room for; report.md has all columns."""
TABLE_WIDTH = 110
LIMITATIONS = (
    "Everything ran on one machine: clients, app servers, workers and database share its cores.",
    "Figures are of the measured window alone, after a warm-up; a request that is still waiting "
    "when the window ends is in no figure, which flatters the latency of an overloaded variant.",
    "Lag ends at the receipt, which is written just before its transaction commits.",
)


class Line(NamedTuple):
    """What the runs of one variant come to: the median of each figure, and the worst audit."""

    results: Sequence[Result]

    @property
    def variant(self) -> Variant:
        return Variant.named(self.results[0].variant)

    @property
    def as_expected(self) -> bool:
        """Every run finished, with the audit that the variant should have."""
        expected = self.variant.should_be_clean
        return all(r.audit is not None and r.audit["ok"] == expected for r in self.results)

    def median(self, figure: Callable[[Result], float | None]) -> float | None:
        values = [value for value in map(figure, self.results) if value is not None]
        return median(values) if values else None

    def cells(self) -> list[str]:
        return [
            self.variant.name,
            _number(self.median(lambda r: r.offered_rps)),
            _number(self.median(lambda r: r.achieved_rps)),
            _percent(self.median(lambda r: r.success)),
            _number(self.median(lambda r: r.latency_ms.get("mean"))),
            _number(self.median(lambda r: r.latency_ms.get("p95"))),
            _number(self.median(lambda r: r.latency_ms.get("p99"))),
            _number(self.median(lambda r: r.deliveries_per_s)),
            _number(self.median(lambda r: r.lag_ms.get("p50"))),
            _number(self.median(lambda r: r.lag_ms.get("p99"))),
            _number(self.median(lambda r: r.drain_s)),
            self.audit(),
        ]

    def audit(self) -> str:
        if any(r.audit is None for r in self.results):
            return "DID NOT FINISH"
        worst = max((r.audit for r in self.results if r.audit), key=_wrong)
        verdict = "clean" if worst["ok"] else _findings(worst)
        if self.as_expected:
            return verdict if worst["ok"] else f"{verdict} (as expected)"
        return f"FAILED: {verdict}"


def lines(results: Iterable[Result]) -> list[Line]:
    """Group results by variant, in the order of their first runs."""
    by_variant: dict[str, list[Result]] = {}
    for result in results:
        by_variant.setdefault(result.variant, []).append(result)
    return [Line(group) for group in by_variant.values()]


def report(folder: Path) -> bool:
    """Print the comparison, write it to report.md, and tell whether all went as expected.

    Raises ValueError if there are no results.
    """
    results = list(read_results(folder))
    if not results:
        raise ValueError(f"there are no results in {folder}")
    compared = lines(results)
    Console(width=max(Console().width, TABLE_WIDTH)).print(as_table(results, compared))
    (folder / "report.md").write_text(as_markdown(results, compared))
    return all(line.as_expected for line in compared)


def as_table(results: Sequence[Result], compared: Sequence[Line]) -> Table:
    table = Table(title=_title(results), caption=_machine(results[0]), box=SIMPLE)
    for column in IN_TERMINAL:
        if column == "audit":
            table.add_column(column, min_width=14)
        else:
            table.add_column(
                column, justify="left" if column == "variant" else "right", no_wrap=True
            )
    for line in compared:
        table.add_row(*_in_terminal(line.cells()), style=None if line.as_expected else "red")
    table.add_section()
    for published in EXPERIMENTS[results[0].experiment].published:
        table.add_row(*_in_terminal(_published_cells(published)), style="dim")
    return table


def _in_terminal(cells: Sequence[str]) -> list[str]:
    return [cell for column, cell in zip(COLUMNS, cells, strict=True) if column in IN_TERMINAL]


def as_markdown(results: Sequence[Result], compared: Sequence[Line]) -> str:
    rows = [line.cells() for line in compared]
    rows += [
        _published_cells(published) for published in EXPERIMENTS[results[0].experiment].published
    ]
    errors = [f"- {r.variant}, run {r.repeat}: {error}" for r in results for error in r.errors]
    parts = [
        f"# {_title(results)}",
        _machine(results[0]),
        "\n".join(_markdown_row(row) for row in (COLUMNS, ["---"] * len(COLUMNS), *rows)),
        "Published figures are their authors', on their machines, and were never audited.",
        *(["## What failed", "\n".join(errors)] if errors else []),
        "## Limitations",
        "\n".join(f"- {limitation}" for limitation in (*LIMITATIONS, *_durability(results))),
    ]
    return "\n\n".join(parts) + "\n"


def _title(results: Sequence[Result]) -> str:
    repeats = max(result.repeat for result in results)
    runs = f", medians of {repeats} runs" if repeats > 1 else ""
    return f"{results[0].experiment}{runs}"


def _machine(result: Result) -> str:
    env = result.environment
    return (
        f"{env['cpus']} cores, {env['memory_gib']} GiB, Python {env['python']}, "
        f"commit {env['commit'] or 'unknown'}, {result.started_at}"
    )


def _durability(results: Sequence[Result]) -> list[str]:
    return sorted({item for r in results for item in r.environment["durability_given_away"]})


def _published_cells(published: Published) -> list[str]:
    known = [
        f"published: {published.what}",
        "500",
        _number(published.posts_per_s),
        _percent(published.success),
        _number(published.mean_ms),
        _number(published.p95_ms),
    ]
    return known + ["-"] * (len(COLUMNS) - len(known) - 1) + ["none"]


def _wrong(audit: dict[str, int]) -> int:
    return audit["missing"] + audit["duplicated"] + audit["unexpected"]


def _findings(audit: dict[str, int]) -> str:
    kinds = ("missing", "duplicated", "unexpected")
    found = [
        f"{audit[kind] / max(1, audit['expected']):.1%} {kind}" for kind in kinds if audit[kind]
    ]
    return ", ".join(found)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    """Write a figure with the digits that mean something."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"
