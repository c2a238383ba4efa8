"""The order of the runs: in each round, every variant is put under its next load."""

from collections.abc import Callable, Sequence

from lab.progress import console
from lab.results.result import Result
from lab.running.load import Load
from launch.variants import Variant

NextLoad = Callable[[Variant, Sequence[Result]], Load | None]
Run = Callable[[Variant, Load], Result]


def run_in_rounds(variants: Sequence[Variant], next_load: NextLoad, run: Run) -> None:
    """Run until no variant has another load, so that a change of the machine hits all alike."""
    results: dict[str, list[Result]] = {variant.name: [] for variant in variants}
    number, under_way = 0, list(variants)
    while under_way:
        number += 1
        going_on = []
        for turn, variant in enumerate(under_way, start=1):
            load = next_load(variant, results[variant.name])
            if load is not None:
                console.print(f"round {number}, {turn} of {len(under_way)}: ", end="")
                results[variant.name].append(run(variant, load))
                going_on.append(variant)
        under_way = going_on
