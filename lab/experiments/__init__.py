"""The experiments: where each is. Its module is imported when somebody asks for it."""

from collections.abc import Iterator, Mapping
from pkgutil import resolve_name

from lab.experiments.base import Experiment

PATHS = {
    "activity": "replays.activity.experiment.EXPERIMENT",
    "browse": "replays.browse.experiment.EXPERIMENT",
    "capacity": "lab.experiments.capacity.EXPERIMENT",
    "export": "replays.export.experiment.EXPERIMENT",
    "factors": "replays.author.factors.FACTORS",
    "factors-ours": "replays.author.factors.FACTORS_OF_OURS",
    "fanout": "lab.experiments.fanout.EXPERIMENT",
    "faults": "lab.experiments.faults.EXPERIMENT",
    "mixed": "lab.experiments.mixed.EXPERIMENT",
    "overload": "lab.experiments.overload.EXPERIMENT",
    "promises": "lab.experiments.promises.EXPERIMENT",
    "published-000": "replays.signup.published.EXPERIMENT",
    "published-001": "replays.browse.published.EXPERIMENT",
    "published-002": "replays.activity.published.EXPERIMENT",
    "published-003": "replays.author.published.EXPERIMENT",
    "published-004": "replays.export.published.EXPERIMENT",
    "queues": "lab.experiments.queues.EXPERIMENT",
    "screens": "lab.experiments.screens.EXPERIMENT",
    "signup": "replays.signup.experiment.EXPERIMENT",
}


class Experiments(Mapping[str, Experiment]):
    def __getitem__(self, name: str) -> Experiment:
        experiment: Experiment = resolve_name(PATHS[name])
        return experiment

    def __iter__(self) -> Iterator[str]:
        return iter(PATHS)

    def __len__(self) -> int:
        return len(PATHS)


EXPERIMENTS = Experiments()
