"""The order of the runs: in each round, every variant is put under its next load."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from lab.progress import console
from lab.results.result import Result
from lab.running.load import Load
from launch.variants import Variant

NextLoads = Callable[[Mapping[str, Sequence[Result]]], Sequence[tuple[Variant, Load]]]
"""From the results so far, by name of the variant, to the runs of the next round; none: the end."""
Run = Callable[[Variant, Load], Result]


def run_in_rounds(variants: Sequence[Variant], next_loads: NextLoads, run: Run) -> None:
    """Run until no variant has another load, so that a change of the machine hits all alike."""
    results: dict[str, list[Result]] = {variant.name: [] for variant in variants}
    for number in count(1):
        loads = next_loads(results)
        if not loads:
            return
        for turn, (variant, load) in enumerate(loads, start=1):
            console.print(f"round {number}, {turn} of {len(loads)}: ", end="")
            results[variant.name].append(run(variant, load))
