from lab.experiments.activity import Activity
from lab.experiments.base import Experiment
from lab.experiments.browse import Browse
from lab.experiments.capacity import Capacity
from lab.experiments.export import Export
from lab.experiments.factors import Factors, FactorsOfOurs
from lab.experiments.fanout import Fanout
from lab.experiments.published_000 import Published000
from lab.experiments.published_001 import Published001
from lab.experiments.published_002 import Published002
from lab.experiments.published_003 import Published003
from lab.experiments.published_004 import Published004
from lab.experiments.signup import Signup

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *(Fanout(), Capacity(), Signup(), Browse(), Activity(), Export()),
        *(Published000(), Published001(), Published002(), Published003(), Published004()),
        *(Factors(), FactorsOfOurs()),
    )
}
