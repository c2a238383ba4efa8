"""What an experiment declares; everything else of the laboratory is the same for all of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from lab.reporting import plots
from lab.experiments.capacity.limits import Limits
from lab.results.summary import Summary
from lab.running.load import Load, chosen
from lab.reporting.formats import measured, number, percent
from lab.results.requests import Requests
from lab.results.result import Figure, Result
from lab.running.rounds import Search
from launch.service import Seed, Service
from launch.variants import Variant


class Column(NamedTuple):
    """A figure as tables show it."""

    label: str
    figure: Figure
    write: Callable[[float | None], str] = number
    spread: bool = False
    """Of several runs, show the smallest and the largest too."""
    brief: bool = False
    """For the terminal, which has room for few, and for ``lab compare``."""
    is_latency: bool = False
    """A lower bound where the window was too short (``lab.results.laws.is_cut_off``)."""


class Published(NamedTuple):
    """What was published, on its authors' machines; never audited."""

    what: str
    figures: Mapping[str, float]
    """By the labels of columns; times in milliseconds."""


class Asked(NamedTuple):
    """What the command line says of the load; None leaves it to the experiment."""

    users: int | None = None
    run_time_s: int | None = None
    graph: str | None = None
    arrivals: str | None = None
    password: str | None = None
    loads: str | None = None
    """Names, "a,b"."""
    limits: Limits = Limits()


class Measured(NamedTuple):
    """A run whose load has ended, with the service still up."""

    service: Service
    result: Result
    load: Load
    requests: Requests
    folder: Path
    """Of the run, with what Locust wrote: requests.csv and accepted.csv."""
    drain_within_s: int


class Plot(NamedTuple):
    heading: str
    text: str
    draw: Callable[[Sequence[Summary]], str]


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
)
CPU = Plot("Where the CPU went", "Cores busy within the window.", plots.cpu)


class Experiment(ABC):
    """Variants of the service under the same loads, with a check of what they did.

    A run is one variant under one load, from an empty folder to a result.
    """

    name: ClassVar[str]
    document: ClassVar[str | None] = None
    """Author and title of the published document whose steps and load it replays."""
    locustfile: ClassVar[str]
    variants: ClassVar[tuple[str, ...]]
    published: ClassVar[tuple[Published, ...]] = ()
    seed: ClassVar[Seed] = Seed()
    columns: ClassVar[tuple[Column, ...]]
    headline: ClassVar[Column]
    """The column that the top picture draws."""
    axis: ClassVar[str]
    """What that picture writes below it."""
    more_is_better: ClassVar[bool] = False
    tie_break: ClassVar[str] = ""
    """What the rank decides by between variants that the headline can't tell apart."""
    contrast: ClassVar[str] = "{name} takes {ratio} times as long, at {rates} requests/s."
    """Of the best and the last one; ``rates`` are theirs, the last one's first."""
    findings: ClassVar[tuple[str, ...]]
    """The audit's counts that are 0 in a clean run, whose audit is ``ok``."""
    pictures: ClassVar[tuple[Plot, ...]] = (LATENCY, CPU)
    limitations: ClassVar[tuple[str, ...]] = ()
    drain_within_s: ClassVar[int] = 480
    """Unless the command line says otherwise."""
    around_s: ClassVar[int] = 15
    """Estimated seconds that a run takes before its load and after it."""
    searches: ClassVar[bool] = False
    """Looks for the highest load that holds: which loads it runs depends on what came out, and the
    generator is part of what it measures."""

    @abstractmethod
    def variant(self, name: str) -> Variant:
        """Return the variant that ``name`` spells. Raises UnknownVariant."""

    @abstractmethod
    def loads(self, asked: Asked) -> list[Load]:
        """Return the loads that the variants are put under, the heaviest last."""

    def suits(self, variant: Variant, load: Load) -> bool:
        """Tell whether a variant is put under a load."""
        return True

    def loads_of(self, variant: Variant, asked: Asked) -> list[Load]:
        """Return the loads that the command line chooses and that suit the variant."""
        return [it for it in chosen(self.loads(asked), asked.loads) if self.suits(variant, it)]

    def search(self, variant: Variant, asked: Asked) -> Search:
        """Yield the loads that a variant is put under, in turn."""
        for load in self.loads_of(variant, asked):  # noqa: UP028  a list takes no answer
            yield load

    def seeding(self) -> Sequence[Sequence[str]]:
        """Return the management commands that follow ``seed_people``, with their arguments."""
        return ()

    @abstractmethod
    def conclude(self, measured: Measured) -> None:
        """Complete the result with figures of the experiment's own (``extra``) and the audit."""

    def lines(self, results: Sequence[Result]) -> list[Summary]:
        """Group results by load and variant, each in the order of their first runs."""
        groups: dict[str, dict[str, list[Result]]] = {}
        for result in results:
            groups.setdefault(result.load, {}).setdefault(result.variant, []).append(result)
        return [
            Summary(self.variant(variant), group)
            for variants in groups.values()
            for variant, group in variants.items()
        ]

    @abstractmethod
    def praise(self, line: Summary) -> str:
        """Say in a sentence what the best variant reached."""

    def beside(self, compared: Sequence[Summary]) -> str:
        """Say how the variants compare with those that aren't ranked, if that matters."""
        return ""

    def verdict(self, compared: Sequence[Summary]) -> str:
        """Say what came out, where it isn't which variant is the best."""
        return ""

    def conclusions(self, compared: Sequence[Summary]) -> Sequence[str]:
        """Return what there is to say of all lines together, below the table."""
        return ()

    def remarks(self, line: Summary) -> Sequence[str]:
        """Return what there is to say of a line below the table."""
        return ()

    def rank(self, line: Summary) -> tuple[float, ...]:
        """Return what the lines of the heaviest load are sorted by, the best first."""
        value = line.median(self.headline.figure)
        if value is None:
            return (float("inf"),)
        return (-value if self.more_is_better else value,)
