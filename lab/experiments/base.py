"""What an experiment is made of: variants, loads, and functions for what else it does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lab.reporting.presentation import Presentation
from lab.results.requests import Requests
from lab.results.result import Result
from lab.results.summary import Summary
from lab.running.load import Load, chosen, generate
from lab.running.screens import Screens
from launch.service import Seed, Service
from launch.variants import Variant

USUAL_PEOPLE = Seed()


class RunOptions(NamedTuple):
    """What the user asks of runs, checked; None: the experiment's own."""

    users: int | None = None
    run_time_s: int | None = None
    arrivals: str | None = None
    loads: str | None = None
    """Names of loads, separated by commas."""
    own: Mapping[str, float] = {}
    """The experiment's own options (``Experiment.options``), those that were given."""
    seed: Seed = USUAL_PEOPLE
    """The experiment's people, but for what the command line says of them."""
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""
    repeat: int = 1
    resume: bool = False
    """Finished runs of the same command and commit are kept."""
    shared: bool = False
    """Other programs are known to use the machine, so that utilisation is not judged."""


class Measured(NamedTuple):
    """A run whose load has ended, with the service still up."""

    service: Service
    result: Result
    load: Load
    requests: Requests
    folder: Path
    """Folder of the run, with Locust's requests.csv and accepted.csv."""
    options: RunOptions
    screens: Screens | None = None
    """The readers who are watched, if they are."""


def in_turn(
    loads: Sequence[Load], variant: Variant, options: RunOptions, results: Sequence[Result]
) -> Load | None:
    """Return the first of the loads that has no result yet."""
    done = {result.load for result in results}
    return next((load for load in loads if load.name not in done), None)


@dataclass(frozen=True)
class Experiment:
    """Variants of the service under the same loads, with a check of what they did.

    A run is one variant under one load, from an empty folder to a result.
    """

    name: str
    variants: tuple[str, ...]
    loads: Callable[[RunOptions], list[Load]]
    """Returns the loads of the experiment, the heaviest last."""
    conclude: Callable[[Measured], None]
    """Completes the result with figures of the experiment's own (``extra``) and the audit."""
    presentation: Presentation
    variant: Callable[[str], Variant] = Variant.named
    """Returns the variant that a name spells. Raises UnknownVariant."""
    document: str | None = None
    """Author and title of the published document whose steps and load it replays."""
    seed: Seed = USUAL_PEOPLE
    seeding: tuple[tuple[str, ...], ...] = ()
    """The management commands that follow ``seed_people``, with their arguments."""
    watches: bool = False
    """Some readers of our service are watched from outside (``lab.running.screens``)."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the command line that only this experiment has, with what --help says of them.

    Their names have underscores, their values are numbers.
    """
    suits: Callable[[Variant, Load], bool] = lambda variant, load: True
    """Returns whether a variant runs under a load."""
    generate: Callable[[Load, Service, Path, Result], Load] = generate
    """Puts a service under a load, and returns that load with the time that it took.

    Leaves requests.csv and unanswered.csv in the folder, and may put figures of its own into the
    result (``extra``). Raises RunFailed.
    """
    next_load: Callable[[Sequence[Load], Variant, RunOptions, Sequence[Result]], Load | None] = (
        in_turn
    )
    """Returns the load of a variant after those that gave these results; None at the end.

    Gets the loads that the command line chooses and that suit the variant.
    """
    afterwards: Callable[
        [Sequence[Variant], RunOptions, Mapping[str, Sequence[Result]]], list[tuple[Variant, Load]]
    ] = lambda variants, options, results: []
    """Returns runs for when no variant has another load, after these results by variant."""
    drain_within_s: int = 480
    """Default of --drain-within."""
    around_s: int = 15
    """Estimated seconds that a run takes before its load and after it."""
    steps: int = 1
    """Estimated runs of a variant for each of its loads."""

    def summaries(self, results: Sequence[Result]) -> list[Summary]:
        """Group results into the summaries that reports show."""
        return self.presentation.summaries(results, self.variant)

    def loads_of(self, variant: Variant, options: RunOptions) -> list[Load]:
        """Return the loads that the command line chooses and that suit the variant."""
        loads = chosen(self.loads(options), options.loads)
        return [load for load in loads if self.suits(variant, load)]

    def next_runs(
        self,
        variants: Sequence[Variant],
        options: RunOptions,
        results: Mapping[str, Sequence[Result]],
    ) -> list[tuple[Variant, Load]]:
        """Return the runs of the next round, after these results by variant; none at the end."""
        runs = []
        for variant in variants:
            loads = self.loads_of(variant, options)
            load = self.next_load(loads, variant, options, results[variant.name])
            if load is not None:
                runs.append((variant, load))
        return runs or self.afterwards(variants, options, results)
