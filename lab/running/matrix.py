"""All runs that were asked for: every variant, under each of its loads, as often as asked."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from lab.experiments.base import Experiment, RunOptions
from lab.progress import console
from lab.results.result import Result, read_results
from lab.running.load import Load
from lab.running.machine import Shortage, commit
from lab.running.single_run import command, run
from launch.variants import Variant

INTERRUPTED = 130


def run_matrix(
    experiment: Experiment, variants: Sequence[Variant], options: RunOptions, out: Path
) -> int:
    """Run every variant under its loads; return 0, or the exit status of what cut it short."""
    loads = [load for variant in variants for load in experiment.loads_of(variant, options)]
    console.print(_estimate(experiment, loads, options.repeat))
    try:
        for repeat in range(1, options.repeat + 1):
            first = (repeat - 1) % len(variants)
            rotated = [*variants[first:], *variants[:first]]
            run_one = partial(_run_one, experiment, options, repeat, out)
            run_in_rounds(experiment, rotated, options, run_one)
    except Shortage as shortage:
        console.print(f"[red]stopped:[/red] {shortage}; what was measured is kept")
        return 1
    except KeyboardInterrupt:
        console.print("[red]interrupted;[/red] what was measured is kept")
        return INTERRUPTED
    return 0


def _run_one(
    experiment: Experiment,
    options: RunOptions,
    repeat: int,
    out: Path,
    variant: Variant,
    load: Load,
) -> Result:
    name = "-".join(filter(None, (variant.name, load.name, str(repeat))))
    same = command(experiment.name, variant, load, options)
    if options.resume and (kept := _finished(out / name, same)):
        console.print(f"{name}: kept")
        return kept
    console.print(name)
    return run(experiment, variant, load, options, repeat, out / name)


def _finished(folder: Path, same_command: str) -> Result | None:
    """Return the finished result of this command and of the code of now, if a commit has it."""
    wanted = {"command": same_command, "commit": commit()}
    for result in read_results(folder):
        is_same = wanted.items() <= result.environment.items()
        if is_same and result.audit and not result.is_dirty:
            return result
    return None


def run_in_rounds(
    experiment: Experiment,
    variants: Sequence[Variant],
    options: RunOptions,
    run_one: Callable[[Variant, Load], Result],
) -> None:
    """Put every variant under its next load in each round, until none has another.

    So a change of the machine hits all alike.
    """
    results: dict[str, list[Result]] = {variant.name: [] for variant in variants}
    for number in count(1):
        runs = experiment.next_runs(variants, options, results)
        if not runs:
            return
        for turn, (variant, load) in enumerate(runs, start=1):
            console.print(f"round {number}, {turn} of {len(runs)}: ", end="")
            results[variant.name].append(run_one(variant, load))


def _estimate(experiment: Experiment, loads: Sequence[Load], repeats: int) -> str:
    """Return an estimate of the time that the runs under these loads take."""
    steps = experiment.steps
    repeat_s = steps * sum(load.seconds + experiment.around_s for load in loads)
    times = f", {repeats} times" if repeats > 1 else ""
    minutes = max(1, round(repeats * repeat_s / 60))
    runs = "1 run" if steps * len(loads) == 1 else f"{steps * len(loads)} runs"
    return f"{experiment.name}: {runs}{times}, about {minutes} min"
