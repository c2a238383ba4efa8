"""The base class of experiments: what an experiment declares."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from lab.reporting.presentation import Presentation
from lab.results.requests import Requests
from lab.results.result import Result
from lab.running.load import Load, chosen, generate
from lab.running.options import RunOptions
from launch.service import Seed, Service
from launch.variants import Variant


class Measured(NamedTuple):
    """A run whose load has ended, with the service still up."""

    service: Service
    result: Result
    load: Load
    requests: Requests
    folder: Path
    """Folder of the run, with Locust's requests.csv and accepted.csv."""
    options: RunOptions


class Option(NamedTuple):
    """An option of the command line that only one experiment has; its values are numbers."""

    name: str
    """With underscores."""
    text: str
    """What --help says."""


class Experiment(ABC):
    """Variants of the service under the same loads, with a check of what they did.

    A run is one variant under one load, from an empty folder to a result.
    """

    name: ClassVar[str]
    presentation: ClassVar[Presentation]
    document: ClassVar[str | None] = None
    """Author and title of the published document whose steps and load it replays."""
    locustfile: ClassVar[str]
    variants: ClassVar[tuple[str, ...]]
    seed: ClassVar[Seed] = Seed()
    drain_within_s: ClassVar[int] = 480
    """Default of --drain-within."""
    around_s: ClassVar[int] = 15
    """Estimated seconds that a run takes before its load and after it."""
    steps: ClassVar[int] = 1
    """Estimated runs of a variant for each of its loads."""
    options: ClassVar[tuple[Option, ...]] = ()

    @abstractmethod
    def variant(self, name: str) -> Variant:
        """Return the variant that ``name`` spells. Raises UnknownVariant."""

    @abstractmethod
    def loads(self, options: RunOptions) -> list[Load]:
        """Return the loads of the experiment, the heaviest last."""

    def suits(self, variant: Variant, load: Load) -> bool:
        """Return whether a variant runs under a load."""
        return True

    def loads_of(self, variant: Variant, options: RunOptions) -> list[Load]:
        """Return the loads that the command line chooses and that suit the variant."""
        return [it for it in chosen(self.loads(options), options.loads) if self.suits(variant, it)]

    def next_load(
        self, variant: Variant, options: RunOptions, results: Sequence[Result]
    ) -> Load | None:
        """Return the load after those that gave these results; None when there is no other."""
        done = {result.load for result in results}
        left = (it for it in self.loads_of(variant, options) if it.name not in done)
        return next(left, None)

    def next_loads(
        self,
        variants: Sequence[Variant],
        options: RunOptions,
        results: Mapping[str, Sequence[Result]],
    ) -> list[tuple[Variant, Load]]:
        """Return the runs of the next round, after these results by variant; none at the end."""
        loads = [(it, self.next_load(it, options, results[it.name])) for it in variants]
        return [(variant, load) for variant, load in loads if load is not None]

    def seeding(self) -> Sequence[Sequence[str]]:
        """Return the management commands that follow ``seed_people``, with their arguments."""
        return ()

    def generate(self, load: Load, service: Service, folder: Path) -> Load:
        """Put a service under a load; return that load with the time that it took.

        Leaves requests.csv and unanswered.csv in ``folder``. Raises RunFailed.
        """
        generate(load, service, folder)
        return load

    @abstractmethod
    def conclude(self, measured: Measured) -> None:
        """Complete the result with figures of the experiment's own (``extra``) and the audit."""
