from lab.experiments.base import Experiment
from lab.experiments.export import Export
from lab.experiments.fanout import Fanout

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (Fanout(), Export())
}
