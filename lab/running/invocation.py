"""What all runs of an invocation share, and how they are repeated."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.base import Experiment
from lab.running.load import Load
from launch.service import Seed
from launch.variants import Variant


@dataclass(frozen=True)
class Invocation:
    experiment: Experiment
    seed: Seed
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""
    shared: bool = False
    """Other programs are known to use the machine, so that utilisation is not judged."""

    def estimate(self, loads: Sequence[Load], repeats: int) -> str:
        """Say how long a run under each of these loads takes, if no answer is late."""
        repeat_s = sum(load.seconds + self.experiment.around_s for load in loads)
        times = f", {repeats} times" if repeats > 1 else ""
        minutes = max(1, round(repeats * repeat_s / 60))
        return f"{self.experiment.name}: {len(loads)} runs{times}, about {minutes} min"

    def command(self, variant: Variant, load: Load) -> str:
        """Return what repeats the run of a variant under a load."""
        options = {
            "variants": variant.name,
            **({"loads": load.name} if load.name else {}),
            "users": load.users,
            "run-time": f"{load.run_time_s}s",
            "arrivals": load.arrivals,
            "servers": self.servers,
            "drain-within": f"{self.drain_within_s}s",
            **(load.limits.arguments() if load.limits else {}),
            **self.seed.arguments(),
            **({"shared": ""} if self.shared else {}),
        }
        words = " ".join(f"--{name} {value}".strip() for name, value in options.items())
        return f"python -m lab run {self.experiment.name} {words}"
