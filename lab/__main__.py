"""python -m lab: run the variants of an experiment side by side, and prove what they delivered."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from lab import load_calculator
from lab.advise.answer import advise
from lab.advise.candidates import measured as measured_costs
from lab.advise.candidates import newest
from lab.advise.check import check
from lab.advise.output import PAGE, page_of
from lab.advise.situation import situation_of
from lab.arguments import PUBLISHED, parser
from lab.before import as_line, check_folders, check_servers, claim
from lab.bench import bench
from lab.bench.output import report_bench
from lab.bench.record import FILE as BENCH
from lab.bench.targets import Grid, choose
from lab.experiments import EXPERIMENTS
from lab.experiments.base import Experiment, RunOptions
from lab.listing import print_all, print_first
from lab.progress import print_page, print_whole
from lab.reporting.report import report
from lab.reporting.two_runs import compare
from lab.results.result import read_results
from lab.results.summary import HARM
from lab.running.load import chosen
from lab.running.machine import calibration_ms
from lab.running.matrix import INTERRUPTED, run_matrix
from lab.running.single_run import serve
from lab.systems.variants import TARGET, TargetVariant, check_host
from launch.processes import RunFailed
from launch.service import Seed
from launch.variants import UnknownVariant, Variant

RESULTS = Path("results")


def main(argv: Sequence[str] | None = None) -> int:
    top = parser(COMMANDS, __doc__)
    options = top.parse_args(argv)
    refuse: Callable[[str], NoReturn] = options.refuse
    for number in (signal.SIGINT, signal.SIGTERM):  # clean up, also where a shell ignores Ctrl-C
        signal.signal(number, signal.default_int_handler)
    try:
        return int(options.command(options))
    except (UnknownVariant, ValueError, FileNotFoundError) as error:
        refuse(as_line(error) if isinstance(error, OSError) else str(error))
    except (RunFailed, OSError) as error:
        print(as_line(error) if isinstance(error, OSError) else error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def list_variants(options: argparse.Namespace) -> int:
    if options.all:
        print_all()
    else:
        print_first()
    return 0


def run_experiments(options: argparse.Namespace) -> int:
    """Run one experiment, or every replay in turn, each below --out; return the worst status."""
    if options.experiment != PUBLISHED:
        return run_experiment(EXPERIMENTS[options.experiment], options, _out(options))
    replays = [experiment for experiment in EXPERIMENTS.values() if experiment.document]
    if options.variants is not None or options.loads:
        names = ", ".join(replay.name for replay in replays)
        raise ValueError(f"--variants and --loads belong to one experiment: {names}")
    worst, out = 0, _out(options)
    claim(out)
    for replay in replays:
        worst = max(worst, run_experiment(replay, options, out / replay.name), key=HARM)
        if worst == INTERRUPTED:
            break
    return worst


def run_experiment(experiment: Experiment, given: argparse.Namespace, out: Path) -> int:
    variants, options = _variants(experiment, given), _run_options(experiment, given)
    chosen(experiment.loads(options), options.loads)  # refuses unknown names before it begins
    check_servers(variants, options.servers)
    claim(out)
    cut_short = run_matrix(experiment, variants, options, out)
    status = report(out)
    print_page(out / "report.html")
    return cut_short or status


def serve_variant(given: argparse.Namespace) -> int:
    experiment = EXPERIMENTS[given.experiment]
    options = RunOptions(seed=_seed(experiment, given), servers=given.servers)
    variant = experiment.variant(given.variant)
    check_servers([variant], options.servers)
    check_folders(given.tokens.parent)
    serve(experiment, variant, options, port=given.port, tokens=given.tokens)
    return 0


def serve_page(options: argparse.Namespace) -> int:
    from lab.live.page import serve as serve_live  # noqa: PLC0415  NiceGUI takes a second

    serve_live(options)
    return 0


def report_results(options: argparse.Namespace) -> int:
    if (options.folder / BENCH).exists():
        return 0 if report_bench(options.folder) else 1
    status = report(options.folder)
    print_page(options.folder / "report.html")
    return status


def compare_results(options: argparse.Namespace) -> int:
    print_page(compare(options.first, options.second, anyway=options.anyway))
    return 0


def bench_stores(options: argparse.Namespace) -> int:
    grid = Grid.checked(people=options.people, friends=options.friends, batch=options.batch)
    out: Path = options.out or RESULTS / f"bench-{datetime.now():%Y%m%d-%H%M%S}"
    targets, seconds = choose(options.stores), options.seconds
    claim(out)
    return 0 if bench(targets, grid, out, seconds=seconds, as_json=options.json) else 1


def plan_capacity(options: argparse.Namespace) -> int:
    each, factor, users = options.requests_each, options.peak_factor, options.daily_users
    if users is None:
        users = load_calculator.daily_users(options.rps, each, factor)
        print(f"{options.rps:,.3g} requests/s at the peak: {users:,} daily users")
    mean = load_calculator.mean_rps(users, each)
    peak = load_calculator.peak_rps(mean, factor)
    needed = load_calculator.virtual_users(peak, options.iteration_requests, options.iteration_s)
    print(
        f"{mean:,.3g} requests/s on average, {peak:,.3g} at the peak: {needed:,} virtual users "
        f"who make {options.iteration_requests} requests in {options.iteration_s:g} s"
    )
    return 0


def give_advice(options: argparse.Namespace) -> int:
    situation = situation_of(options)
    named = [Path(folder) for folder in options.costs.split(",")] if options.costs else None
    measured = measured_costs(named or newest(RESULTS, without=options.check))
    if options.check:
        table, holds = check(list(read_results(options.check)), measured)
        print_whole(table.as_rich())
        return 0 if holds else 1
    advice = advise(situation, measured, calibration_ms=calibration_ms())
    out: Path = options.out or RESULTS / f"advise-{datetime.now():%Y%m%d-%H%M%S}"
    page = page_of(advice)
    if options.markdown:
        print(page.as_markdown())
    else:
        page.show()
    print_page(page.write(out / PAGE))
    return 0


COMMANDS = {
    "list": list_variants,
    "up": serve_variant,
    "live": serve_page,
    "run": run_experiments,
    "report": report_results,
    "compare": compare_results,
    "bench": bench_stores,
    "advise": give_advice,
    "plan": plan_capacity,
}


def _variants(experiment: Experiment, options: argparse.Namespace) -> list[Variant]:
    """Return the variants asked for. Raises ValueError for a target that isn't told or allowed."""
    usual = (TARGET,) if options.target else experiment.variants
    names = usual if options.variants is None else options.variants.split(",")
    variants = [experiment.variant(name.strip()) for name in names]
    return [_met(one, options) if isinstance(one, TargetVariant) else one for one in variants]


def _met(variant: TargetVariant, options: argparse.Namespace) -> TargetVariant:
    if not options.target or not options.tokens:
        raise ValueError("the variant target needs --target URL and --tokens FILE")
    check_host(options.target, may=options.i_may)
    return variant.at(options.target, options.tokens, pids=options.pids, befriends=options.befriend)


def _out(options: argparse.Namespace) -> Path:
    out: Path | None = options.out
    return out or RESULTS / f"{options.experiment}-{datetime.now():%Y%m%d-%H%M%S}"


def _run_options(experiment: Experiment, given: argparse.Namespace) -> RunOptions:
    """Return what is asked of the runs of an experiment. Raises ValueError for what can't be."""
    return RunOptions(
        users=given.users,
        run_time_s=given.run_time,
        arrivals=given.arrivals,
        loads=given.loads,
        own=_own_options(experiment, given),
        seed=_seed(experiment, given),
        servers=given.servers,
        drain_within_s=given.drain_within or experiment.drain_within_s,
        repeat=given.repeat,
        precision=given.precision,
        shared=given.shared,
    )


def _seed(experiment: Experiment, options: argparse.Namespace) -> Seed:
    """Return the experiment's people, unless the command line asks for others.

    Raises ValueError if they are impossible.
    """
    given = {name: getattr(options, name) for name in Seed._fields}
    seed = experiment.seed._replace(**{k: v for k, v in given.items() if v is not None})
    seed.check()
    return seed


def _own_options(experiment: Experiment, options: argparse.Namespace) -> dict[str, float]:
    """Return the options that only this experiment has. Raises ValueError for another's."""
    own = {name for name, _ in experiment.options}
    given = {}
    for name in {name for other in EXPERIMENTS.values() for name, _ in other.options}:
        value = getattr(options, name)
        if value is not None and name not in own:
            raise ValueError(f"{experiment.name} has no --{name.replace('_', '-')}")
        if value is not None:
            given[name] = value
    return given


if __name__ == "__main__":
    sys.exit(main())
