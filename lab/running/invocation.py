"""The options that all runs of an invocation share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lab.experiments.base import Experiment
from lab.running.load import INTERRUPTED, Load
from launch.service import Seed
from launch.variants import Variant


@dataclass(frozen=True)
class Invocation:
    experiment: Experiment
    seed: Seed
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""
    own: Mapping[str, float] = field(default_factory=dict)
    """The experiment's own options, by name."""
    shared: bool = False
    """Other programs are known to use the machine, so that utilisation is not judged."""

    def estimate(self, loads: Sequence[Load], repeats: int) -> str:
        """Return an estimate of the time that the runs under these loads take."""
        steps = self.experiment.steps
        repeat_s = steps * sum(load.seconds + self.experiment.around_s for load in loads)
        times = f", {repeats} times" if repeats > 1 else ""
        minutes = max(1, round(repeats * repeat_s / 60))
        runs = "1 run" if steps * len(loads) == 1 else f"{steps * len(loads)} runs"
        return f"{self.experiment.name}: {runs}{times}, about {minutes} min"

    def command(self, variant: Variant, load: Load) -> str:
        """Return the command that repeats the run of a variant under a load."""
        options = {
            "variants": variant.name,
            **({"loads": load.name} if load.name else {}),
            "users": load.users,
            "run-time": f"{load.run_time_s}s",
            **({"arrivals": load.arrivals} if load.arrivals != INTERRUPTED else {}),
            "servers": self.servers,
            "drain-within": f"{self.drain_within_s}s",
            **{name.replace("_", "-"): f"{it:g}" for name, it in self.own.items()},
            **self.seed.arguments(),
            **variant.arguments,
            **({"shared": ""} if self.shared else {}),
        }
        words = " ".join(f"--{name} {value}".strip() for name, value in options.items())
        return f"python -m lab run {self.experiment.name} {words}"
