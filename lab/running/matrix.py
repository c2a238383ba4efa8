"""All runs of an invocation: every variant, under each of its loads, as often as asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.experiments.base import Asked
from lab.progress import console
from lab.results.result import Result
from lab.running.invocation import Invocation
from lab.running.load import Load
from lab.running.repeats import Repeats
from lab.running.resources import Shortage
from lab.running.rounds import run_in_rounds
from lab.running.single_run import run
from launch.variants import Variant

INTERRUPTED = 130


def run_matrix(
    invocation: Invocation, asked: Asked, variants: Sequence[Variant], repeats: Repeats, out: Path
) -> int:
    """Run every variant under its loads; return 0, or the exit status of what cut it short."""
    experiment = invocation.experiment
    loads = [load for variant in variants for load in experiment.loads_of(variant, asked)]
    console.print(invocation.estimate(loads, repeats.first))
    try:
        for repeat in repeats.numbers(out):
            _run_once(invocation, asked, _rotated(variants, repeat - 1), repeat, out)
    except Shortage as shortage:
        console.print(f"[red]stopped:[/red] {shortage}; what was measured is kept")
        return 1
    except KeyboardInterrupt:
        console.print("[red]interrupted;[/red] what was measured is kept")
        return INTERRUPTED
    return 0


def _run_once(
    invocation: Invocation, asked: Asked, variants: Sequence[Variant], repeat: int, out: Path
) -> None:
    def next_loads(results: Mapping[str, Sequence[Result]]) -> Sequence[tuple[Variant, Load]]:
        return invocation.experiment.next_loads(variants, asked, results)

    def run_one(variant: Variant, load: Load) -> Result:
        name = "-".join(filter(None, (variant.name, load.name, str(repeat))))
        console.print(name)
        return run(invocation, variant, load, repeat, out / name)

    run_in_rounds(variants, next_loads, run_one)


def _rotated(variants: Sequence[Variant], by: int) -> list[Variant]:
    by %= len(variants)
    return [*variants[by:], *variants[:by]]
