"""The presentation of an experiment in reports."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from lab.reporting import plots
from lab.reporting.formats import measured, number, percent
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from launch.variants import Variant


class Column(NamedTuple):
    """A figure as tables show it."""

    label: str
    figure: Figure
    write: Callable[[float | None], str] = number
    spread: bool = False
    """Show the smallest and the largest of several runs too."""
    brief: bool = False
    """Shown in the terminal and by ``lab compare``."""
    is_latency: bool = False
    """A lower bound where the window was too short (``lab.results.laws.is_cut_off``)."""


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


OFFERED = Column("offered /s", lambda r: r.offered_rps or None)
SUCCESS = Column("success", lambda r: r.success, percent, brief=True)
MEAN = Column("mean ms", lambda r: r.latency_ms.get("mean"), brief=True, is_latency=True)
P95 = Column("p95 ms", lambda r: r.latency_ms.get("p95"), is_latency=True)
P99 = Column("p99 ms", lambda r: r.latency_ms.get("p99"), spread=True, is_latency=True)
IN_FLIGHT = Column("in flight", lambda r: r.balance.in_flight if r.balance else None)
CORES_BUSY = Column("cores busy", lambda r: r.cores_busy, measured)
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
    "Cores busy by role, of the run in the middle. Thin lines: the least and the most of all runs.",
    plots.cpu,
    lambda r: r.cpu_s,
)


class Presentation(ABC):
    """What reports show of an experiment, and what they say about it."""

    published: ClassVar[tuple[Published, ...]] = ()
    published_note: ClassVar[str] = ""
    """How the published figures have to be read."""
    columns: ClassVar[tuple[Column, ...]]
    headline: ClassVar[Column]
    """The column that the top picture draws."""
    axis: ClassVar[str]
    """Heading of that picture: the figure in words, with its unit."""
    more_is_better: ClassVar[bool] = False
    tie_break: ClassVar[str] = ""
    """What decides between variants that tie by the headline."""
    contrast: ClassVar[str] = "{name} takes {ratio} times as long, at {rates} requests/s."
    """Sentence that compares the best with the last; ``rates``: the last one's first."""
    findings: ClassVar[tuple[str, ...]]
    """The audit's counts that are 0 in a clean run, whose audit is ``ok``."""
    pictures: ClassVar[tuple[Plot, ...]] = (LATENCY, BY_SECOND, CPU)
    limitations: ClassVar[tuple[str, ...]] = ()
    summary_class: ClassVar[type[Summary]] = Summary
    lesson: ClassVar[str] = "docs/reading-a-report.md"
    """The page of the repository that explains the experiment."""
    measures_generator: ClassVar[bool] = False
    """The load generator is part of what is measured, so it may be saturated."""
    condition: ClassVar[str] = "that delivers finished with a clean audit"
    """What a variant has to meet to be ranked, as the end of a sentence."""

    @property
    def heading(self) -> str:
        return self.axis[0].upper() + self.axis[1:]

    def summaries(
        self, results: Sequence[Result], variant_named: Callable[[str], Variant]
    ) -> list[Summary]:
        """Group results by load and variant, each in the order of their first runs."""
        groups: dict[str, dict[str, list[Result]]] = {}
        for result in results:
            groups.setdefault(result.load, {}).setdefault(result.variant, []).append(result)
        return [
            self.summary_class(variant_named(variant), group)
            for variants in groups.values()
            for variant, group in variants.items()
        ]

    def is_published_load(self, result: Result) -> bool:
        """Return whether the published figures are of such a load."""
        return True

    @abstractmethod
    def praise(self, summary: Summary) -> str:
        """Return a sentence on what the best variant reached."""

    def beside(self, compared: Sequence[Summary]) -> str:
        """Return how the variants compare with those that aren't ranked, if that matters."""
        return ""

    def verdict(self, compared: Sequence[Summary]) -> str:
        """Return the answer of an experiment that doesn't look for the best variant."""
        return ""

    def conclusions(self, compared: Sequence[Summary]) -> Sequence[str]:
        """Return remarks on all summaries together, for below the table."""
        return ()

    def remarks(self, summary: Summary) -> Sequence[str]:
        """Return remarks on one summary, for below the table."""
        return ()

    def ranks(self, variant: Variant) -> bool:
        """Return whether a variant is compared with the others under this load."""
        return variant.is_ranked

    def rank(self, summary: Summary) -> tuple[float, ...]:
        """Return the sort key of the summaries under the heaviest load, the best first."""
        value = summary.median(self.headline.figure)
        if value is None:
            return (float("inf"),)
        return (-value if self.more_is_better else value,)
