from lab.experiments.activity import Activity
from lab.experiments.base import Experiment
from lab.experiments.fanout import Fanout

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (Fanout(), Activity())
}
