"""What all runs of an invocation share, and how they are repeated."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.experiments.base import Experiment
from lab.load import Load
from lab.service import Seed
from lab.variants import Variant


@dataclass(frozen=True)
class Plan:
    experiment: Experiment
    seed: Seed
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""

    def estimate(self, loads: Sequence[Load], variants: int, repeats: int) -> str:
        """Say how many runs these are, and how long they take if no answer is late."""
        each_s = sum(load.seconds + self.experiment.around_s for load in loads)
        return (
            f"{self.experiment.name}: {len(loads)} loads * {variants} variants"
            + (f" * {repeats} repeats" if repeats > 1 else "")
            + f", about {max(1, round(variants * repeats * each_s / 60))} min"
        )

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
        }
        words = " ".join(f"--{name} {value}" for name, value in options.items())
        return f"python -m lab run {self.experiment.name} {words}"
