"""The presentation of an experiment in reports: data, and a few functions for what differs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import NamedTuple

from lab.reporting import plots
from lab.reporting.formats import measured, number, percent
from lab.reporting.page import Cell, Table
from lab.results import laws
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from launch.variants import Variant


class Column(NamedTuple):
    """A figure as tables show it."""

    label: str
    figure: Figure
    write: Callable[[float | None], str] = number
    spread: bool = False
    """Show the interval of the median of several runs too."""
    brief: bool = False
    """Shown in the terminal and by ``lab compare``."""
    bound: Callable[[Summary], str] = lambda summary: ""
    """Returns what stands before a figure that is a bound, like "≥ "."""

    def cell(self, summary: Summary) -> str:
        """Write the median, of some columns with its interval."""
        shown = self.write(summary.median(self.figure))
        low, high = map(self.write, summary.interval(self.figure))
        if self.spread and low != high and shown != "-":
            shown = f"{shown} ({low} … {high})"
        return shown if shown == "-" else f"{self.bound(summary)}{shown}"


class Published(NamedTuple):
    """Published figures, from their authors' machines; never audited."""

    what: str
    figures: Mapping[str, float]
    """By the labels of columns; times in milliseconds."""


class Plot(NamedTuple):
    heading: str
    text: str
    draw: Callable[[Sequence[Summary]], plots.Drawing]
    data: Callable[[Result], object] = lambda result: True
    """What it draws of a result; it is left out where no result has any."""
    is_over_loads: bool = False
    """It compares a variant's loads, so that it needs all of them, however many."""


def cut_off(summary: Summary) -> str:
    """Mark latencies whose window ended before the longest answers (``laws.is_cut_off``)."""
    return "≥ " if summary.is_cut_off else ""


def waiting(share: float) -> Callable[[Summary], str]:
    """Mark a lag where more than this share of the posts still waited."""
    return lambda summary: "> " if any((r.waiting or 0) > share for r in summary.results) else ""


def unshown(share: float) -> Callable[[Summary], str]:
    """Mark a time to screen where more than this share of the posts was never shown."""

    def bound(summary: Summary) -> str:
        shares = [result.shown for result in summary.results if result.shown is not None]
        return "> " if shares and min(shares) < 1 - share else ""

    return bound


OFFERED = Column("offered /s", lambda r: r.offered_rps or None)
SUCCESS = Column("success", lambda r: r.success, percent, brief=True)
MEAN = Column("mean ms", laws.mean_ms, brief=True, bound=cut_off)
P95 = Column("p95 ms", lambda r: r.latency_ms.get("p95"), bound=cut_off)
P99 = Column("p99 ms", lambda r: r.latency_ms.get("p99"), spread=True, bound=cut_off)
IN_FLIGHT = Column("in flight", lambda r: r.balance.in_flight if r.balance else None)
CORES_BUSY = Column("cores busy", lambda r: r.cores_busy, measured)
VERDICTS = ("variant", "audit", "figures")
"""The columns before the figures."""
LATENCY = Plot(
    "Latency",
    "The share of requests that were answered within a time, from every request's own time.",
    plots.latency,
    lambda r: r.latency_quantiles_ms,
)
BY_SECOND = Plot(
    "Second by second",
    "Whether a variant is steady: good answers and the p99 of their latency in each second.",
    plots.by_second,
    lambda r: r.by_second,
)
CPU = Plot(
    "Where the CPU went",
    "Cores busy by role, of the run in the middle. Thin lines: the interval of the median.",
    plots.cpu,
    lambda r: r.cpu_s,
)


def extra(name: str) -> Figure:
    """Return a figure of the experiment's own."""
    return lambda result: result.extra.get(name)


def by_load_and_variant(
    results: Sequence[Result],
    variant_named: Callable[[str], Variant],
    kind: type[Summary] = Summary,
) -> list[Summary]:
    """Group results, each load and each of its variants in the order of their first runs."""
    groups: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        groups.setdefault(result.load, {}).setdefault(result.variant, []).append(result)
    return [
        kind(variant_named(variant), group)
        for variants in groups.values()
        for variant, group in variants.items()
    ]


@dataclass(frozen=True)
class Presentation:
    """What reports show of an experiment, and what they say about it."""

    columns: tuple[Column, ...]
    headline: Column
    """The column that the top picture draws."""
    heading: str
    """Heading of that picture: the figure in words, with its unit."""
    findings: tuple[str, ...]
    """The audit's counts that are 0 in a clean run, whose audit is ``ok``."""
    praise: Callable[[Summary], str] = lambda best: ""
    """Returns a sentence on what the best variant reached."""
    more_is_better: bool = False
    tie_break: str = ""
    """What decides between variants that tie by the headline."""
    contrast: str = "{name} takes {ratio} times as long, at {rates} requests/s."
    """Sentence that compares the best with the last; ``rates``: the last one's first."""
    pictures: tuple[Plot, ...] = (LATENCY, BY_SECOND, CPU)
    limitations: tuple[str, ...] = ()
    lesson: str = "docs/reading-a-report.md"
    """The page of the repository that explains the experiment."""
    published: tuple[Published, ...] = ()
    published_note: str = ""
    """How the published figures have to be read."""
    is_published_load: Callable[[Result], bool] = lambda result: True
    """Returns whether the published figures are of such a load."""
    measures_generator: bool = False
    """The load generator is part of what is measured, so it may be saturated."""
    condition: str = "that delivers finished with a clean audit"
    """What a variant has to meet to be ranked, as the end of a sentence."""
    summaries: Callable[[Sequence[Result], Callable[[str], Variant]], list[Summary]] = (
        by_load_and_variant
    )
    """Groups results into summaries; gets the function that names a variant, too."""
    ranks_first: Callable[[Summary], tuple[float, ...]] = lambda summary: ()
    """Returns what decides before the headline which variant is the best; less is better."""
    beside: Callable[[Sequence[Summary]], str] = lambda compared: ""
    """Returns how the variants compare with those that aren't ranked, if that matters."""
    verdict: Callable[[Sequence[Summary]], str] = lambda compared: ""
    """Returns the answer of an experiment that doesn't look for the best variant."""
    conclusions: Callable[[Sequence[Summary]], Sequence[str]] = lambda compared: ()
    """Returns remarks on all summaries together, for below the table."""
    remarks: Callable[[Summary], Sequence[str]] = lambda summary: ()
    """Returns remarks on one summary, for below the table."""

    def rank(self, summary: Summary) -> tuple[float, ...]:
        """Return the sort key of the summaries under the heaviest load, the best first."""
        value = summary.median(self.headline.figure)
        if value is None:
            return *self.ranks_first(summary), float("inf")
        return *self.ranks_first(summary), -value if self.more_is_better else value

    def is_limited(self, summary: Summary) -> bool:
        """Return whether Locust was the limit, so that the figures are Locust's."""
        return summary.generator_saturated and not self.measures_generator

    def table(self, rows: Sequence[Sequence[Cell]], text: str = "") -> Table:
        """Return the table of all figures; rows begin with the variant and its verdicts."""
        head = [*VERDICTS, *(column.label for column in self.columns)]
        brief = [*VERDICTS, *(column.label for column in self.columns if column.brief)]
        return Table("All figures", head, rows, text, brief)

    def audit(self, summary: Summary) -> str:
        """Say what the audits of a summary found."""
        audits = [result.audit for result in summary.results if result.audit is not None]
        if len(audits) < len(summary.results):
            return "DID NOT FINISH"
        worst = max(audits, key=lambda audit: sum(audit.get(kind, 0) for kind in self.findings))
        clean = "nothing to audit" if worst.get("expected") == 0 else "clean"
        verdict = clean if worst["ok"] else _found(worst, self.findings)
        shares = [result.coverage for result in summary.results if result.coverage is not None]
        if shares:
            verdict += f", {floor(100 * min(shares))} % compared"
        if summary.objection:
            return f"{summary.objection}: {verdict}"
        if summary.as_expected:
            return verdict if worst["ok"] else f"{verdict} (as expected)"
        return f"FAILED: {verdict}"


def _found(audit: Mapping[str, int], kinds: Sequence[str]) -> str:
    """Name the findings: by their share of what was expected if the audit knows it."""
    whole = audit.get("expected")
    counts = {kind: audit[kind] for kind in kinds if audit.get(kind)}
    return ", ".join(
        f"{count:,} {kind}" if whole is None else f"{count / max(1, whole):.1%} {kind}"
        for kind, count in counts.items()
    )
