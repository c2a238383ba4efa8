"""What the user asks of a run, in one object."""

from collections.abc import Mapping
from typing import NamedTuple

from lab.running.load import INTERRUPTED, Load
from launch.service import Seed
from launch.variants import Variant

LEAST_REPEATS = 3
"""Where a precision is asked for."""


class RunOptions(NamedTuple):
    """The options of the command line, checked; None: the experiment's own."""

    users: int | None = None
    run_time_s: int | None = None
    arrivals: str | None = None
    loads: str | None = None
    """Names of loads, separated by commas."""
    own: Mapping[str, float] = {}
    """The experiment's own options (``Experiment.options``), those that were given."""
    seed: Seed = Seed()
    """The experiment's people, but for what the command line says of them."""
    servers: str = "auto"
    drain_within_s: int = 480
    """A backlog that takes longer is left, and its deliveries are missing from the audit."""
    repeat: int = 1
    precision: float | None = None
    """Widest allowed interval of all runs, in percent of the median."""
    shared: bool = False
    """Other programs are known to use the machine, so that utilisation is not judged."""

    @property
    def least_repeats(self) -> int:
        return max(self.repeat, LEAST_REPEATS) if self.precision else self.repeat

    def command(self, experiment: str, variant: Variant, load: Load) -> str:
        """Return the command that repeats the run of a variant under a load."""
        options = {
            "variants": variant.name,
            **({"loads": load.name} if load.name else {}),
            "users": load.users,
            "run-time": f"{load.run_time_s}s",
            **({"arrivals": load.arrivals} if load.arrivals != INTERRUPTED else {}),
            "servers": self.servers,
            "drain-within": f"{self.drain_within_s}s",
            **{name.replace("_", "-"): f"{value:g}" for name, value in self.own.items()},
            **self.seed.arguments(),
            **variant.arguments,
            **({"shared": ""} if self.shared else {}),
        }
        words = " ".join(f"--{name} {value}".strip() for name, value in options.items())
        return f"python -m lab run {experiment} {words}"
