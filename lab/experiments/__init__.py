"""The experiments: where the class of each is. It is imported when somebody asks for it."""

from collections.abc import Iterator, Mapping
from functools import cache
from pkgutil import resolve_name

from lab.experiments.base import Experiment

PATHS = {
    "activity": "replays.activity.experiment.Activity",
    "browse": "replays.browse.experiment.Browse",
    "capacity": "lab.experiments.capacity.Capacity",
    "export": "replays.export.experiment.Export",
    "factors": "replays.author.factors.Factors",
    "factors-ours": "replays.author.factors.FactorsOfOurs",
    "fanout": "lab.experiments.fanout.Fanout",
    "faults": "lab.experiments.faults.Faults",
    "mixed": "lab.experiments.mixed.Mixed",
    "overload": "lab.experiments.overload.Overload",
    "published-000": "replays.signup.published.Published000",
    "published-001": "replays.browse.published.Published001",
    "published-002": "replays.activity.published.Published002",
    "published-003": "replays.author.published.Published003",
    "published-004": "replays.export.published.Published004",
    "signup": "replays.signup.experiment.Signup",
}


class Experiments(Mapping[str, Experiment]):
    def __getitem__(self, name: str) -> Experiment:
        return _created(PATHS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(PATHS)

    def __len__(self) -> int:
        return len(PATHS)


@cache
def _created(path: str) -> Experiment:
    experiment: Experiment = resolve_name(path)()
    return experiment


EXPERIMENTS = Experiments()
