"""python -m lab: run the variants of an experiment side by side, and prove what they delivered."""

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from lab import load_calculator
from lab.bench import bench
from lab.bench.grid import Grid
from lab.bench.output import report_bench
from lab.bench.record import FILE as BENCH
from lab.bench.targets import choose
from lab.reporting.two_runs import compare
from lab.experiments import EXPERIMENTS
from lab.experiments.base import Asked, Experiment
from lab.experiments.capacity.limits import Limits
from lab.running.load import Load
from lab.running.invocation import Invocation
from launch.processes import RunFailed
from lab.progress import console
from lab.running.repeats import Repeats
from lab.reporting.report import report
from lab.running.resources import Shortage
from lab.results.result import Result
from lab.running.rounds import rounds
from lab.running.single_run import run, serve
from launch.servers import CHOICES
from launch.service import Seed
from launch.variants import UnknownVariant, Variant

INTERRUPTED = 130
PUBLISHED = "published"
"""What runs all experiments that replay a published document."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    for number in (signal.SIGINT, signal.SIGTERM):  # clean up, also where a shell ignores Ctrl-C
        signal.signal(number, signal.default_int_handler)
    try:
        return int(options.command(options))
    except (UnknownVariant, ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    except RunFailed as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def list_variants(options: argparse.Namespace) -> int:
    for experiment in EXPERIMENTS.values():
        print(experiment.name + (f": {experiment.document}" if experiment.document else ""))
        for name in experiment.variants:
            clean = experiment.variant(name).should_be_clean
            print(f"  {name}" + ("" if clean else "  (not clean)"))
    return 0


def run_experiments(options: argparse.Namespace) -> int:
    """Run one experiment, or every replay in turn, each below --out; return the worst status."""
    if options.experiment != PUBLISHED:
        return run_experiment(EXPERIMENTS[options.experiment], options, _out(options))
    replays = [experiment for experiment in EXPERIMENTS.values() if experiment.document]
    if options.variants or options.loads:
        names = ", ".join(replay.name for replay in replays)
        raise ValueError(f"--variants and --loads belong to one experiment: {names}")
    worst, out = 0, _out(options)
    for replay in replays:
        worst = max(worst, run_experiment(replay, options, out / replay.name))
        if worst == INTERRUPTED:
            break
    return worst


def _out(options: argparse.Namespace) -> Path:
    out: Path | None = options.out
    return out or Path("results") / f"{options.experiment}-{datetime.now():%Y%m%d-%H%M%S}"


def run_experiment(experiment: Experiment, options: argparse.Namespace, out: Path) -> int:
    names = options.variants.split(",") if options.variants else experiment.variants
    variants = [experiment.variant(name.strip()) for name in names]
    asked = Asked(
        options.users,
        options.run_time,
        options.graph,
        options.arrivals,
        options.password,
        options.loads,
        _limits(experiment, options),
    )
    drain_within_s = options.drain_within or experiment.drain_within_s
    seed = _seed(experiment, options)
    invocation = Invocation(experiment, seed, options.servers, drain_within_s, options.shared)
    repeats = Repeats(options.repeat, options.precision)
    if not experiment.searches:
        loads = [load for it in variants for load in experiment.loads_of(it, asked)]
        console.print(invocation.estimate(loads, repeats.first))
    cut_short = _run_all(invocation, asked, variants, repeats, out)
    as_expected = report(out)
    console.print(f"results: {out}; the page: {out / 'report.html'}")
    return cut_short or (0 if as_expected else 1)


def _run_all(
    invocation: Invocation, asked: Asked, variants: Sequence[Variant], repeats: Repeats, out: Path
) -> int:
    """Run every variant under its loads; return 0, or the exit status of what cut it short."""

    def run_one(repeat: int, variant: Variant, load: Load) -> Result:
        name = "-".join(filter(None, (variant.name, load.name, str(repeat))))
        console.print(name)
        return run(invocation, variant, load, repeat, out / name)

    try:
        for repeat in repeats.numbers(out):
            in_turn = _rotated(variants, repeat - 1)
            searches = [(variant, invocation.experiment.search(variant, asked)) for variant in in_turn]
            rounds(searches, partial(run_one, repeat))
    except Shortage as shortage:
        console.print(f"[red]stopped:[/red] {shortage}; what was measured is kept")
        return 1
    except KeyboardInterrupt:
        console.print("[red]interrupted;[/red] what was measured is kept")
        return INTERRUPTED
    return 0


def serve_variant(options: argparse.Namespace) -> int:
    experiment = EXPERIMENTS[options.experiment]
    invocation = Invocation(experiment, _seed(experiment, options), options.servers)
    serve(invocation, experiment.variant(options.variant), port=options.port, tokens=options.tokens)
    return 0


def bench_stores(options: argparse.Namespace) -> int:
    grid = Grid.checked(people=options.people, friends=options.friends, batch=options.batch)
    out: Path = options.out or Path("results") / f"bench-{datetime.now():%Y%m%d-%H%M%S}"
    return 0 if bench(choose(options.stores), grid, out, as_json=options.json) else 1


def report_results(options: argparse.Namespace) -> int:
    if (options.folder / BENCH).exists():
        return 0 if report_bench(options.folder) else 1
    return 0 if report(options.folder) else 1


def compare_results(options: argparse.Namespace) -> int:
    compare(options.first, options.second, anyway=options.anyway)
    return 0


def plan_capacity(options: argparse.Namespace) -> int:
    each, factor, users = options.requests_each, options.peak_factor, options.daily_users
    if users is None:
        users = load_calculator.daily_users(options.rps, each, factor)
        print(f"{options.rps:,.3g} requests/s at the peak: {users:,} users a day")
    mean = load_calculator.mean_rps(users, each)
    peak = load_calculator.peak_rps(mean, factor)
    needed = load_calculator.virtual_users(peak, options.iteration_requests, options.iteration_s)
    print(
        f"{mean:,.3g} requests/s on average, {peak:,.3g} at the peak: {needed:,} virtual users "
        f"who make {options.iteration_requests} requests in {options.iteration_s:g} s"
    )
    return 0


def _seed(experiment: Experiment, options: argparse.Namespace) -> Seed:
    """Return the experiment's people, as far as the command line doesn't say others."""
    said = {name: getattr(options, name) for name in Seed._fields}
    return experiment.seed._replace(**{k: v for k, v in said.items() if v is not None})


def _limits(experiment: Experiment, options: argparse.Namespace) -> Limits:
    """Return what the command line says. Raises ValueError where nothing would be held to it."""
    said = {name: getattr(options, f"limit_{name}") for name in Limits._fields}
    said = {name: value for name, value in said.items() if value is not None}
    if said and not experiment.searches:
        raise ValueError(f"{experiment.name} has no limits to search for")
    return Limits(**said)


def _rotated(variants: Sequence[Variant], by: int) -> list[Variant]:
    by %= len(variants)
    return [*variants[by:], *variants[:by]]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("list", help="the experiments and their variants")
    command.set_defaults(command=list_variants)

    command = commands.add_parser("up", help="serve a variant until Ctrl-C")
    command.add_argument("variant")
    command.add_argument("--experiment", choices=EXPERIMENTS, default="fanout")
    command.add_argument("--port", type=_positive, default=8000)
    command.add_argument("--tokens", type=Path, default=Path("var/tokens.csv"), metavar="FILE")
    _add_service(command)
    command.set_defaults(command=serve_variant)

    _add_run(commands.add_parser("run", help="measure and audit variants, one after another"))

    command = commands.add_parser("report", help="compare the results of a run")
    command.add_argument("folder", type=Path, metavar="DIR")
    command.set_defaults(command=report_results)

    command = commands.add_parser("compare", help="put two runs side by side")
    command.add_argument("first", type=Path, metavar="DIR1")
    command.add_argument("second", type=Path, metavar="DIR2")
    command.add_argument("--anyway", action="store_true", help="though the machines differ")
    command.set_defaults(command=compare_results)
    _add_bench(commands.add_parser("bench", help="time the delivery engine alone, every store"))
    _add_plan(commands.add_parser("plan", help="reckon the load of so many users, and back"))
    return parser


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "experiment", choices=[*EXPERIMENTS, PUBLISHED], help=f"{PUBLISHED}: all replays"
    )
    command.add_argument("--variants", metavar="A,B", help="some, or any by spelling its name")
    command.add_argument("--loads", metavar="A,B", help="some, where the experiment has several")
    users = "500 for fanout; for capacity the rate to begin with"
    command.add_argument("--users", type=_positive, help=users)
    command.add_argument("--run-time", type=_seconds, help="measured; e.g. 30s (fanout's) or 3m")
    command.add_argument(
        "--repeat", type=_positive, default=1, help="runs of each, in rotated order"
    )
    precision = (
        "repeat until the headline figure of each variant, from the smallest to the largest, is "
        "within so many percent of its median; 3 to 9 times"
    )
    command.add_argument("--precision", type=_above_0, metavar="PERCENT", help=precision)
    arrivals = (
        "closed: users keep a schedule but wait for each answer; paused: they pause after each "
        "answer; checked: after each but a failure; open: they keep the schedule, answered or not"
    )
    kinds = ("closed", "paused", "checked", "open")
    command.add_argument("--arrivals", choices=kinds, help=arrivals)
    drain = "a backlog that takes longer is left (8m; for capacity 1m)"
    command.add_argument("--drain-within", type=_seconds, help=drain)
    shared = "other programs use this machine too: don't compare busy cores with the run's own"
    command.add_argument("--shared", action="store_true", help=shared)
    command.add_argument("--out", type=Path, metavar="DIR")
    _add_service(command)
    _add_limits(command.add_argument_group("capacity", "what a rate keeps that holds"))
    command.set_defaults(command=run_experiments)


def _add_limits(group: Any) -> None:
    p99, lag, rps = Limits()
    of_p99, of_lag = f"of requests' p99 ({p99:g})", f"of the lag's p99 ({lag:g})"
    group.add_argument("--limit-p99-ms", type=_above_0, metavar="MS", help=of_p99)
    group.add_argument("--limit-lag-ms", type=_above_0, metavar="MS", help=of_lag)
    group.add_argument("--limit-rps", type=_positive, metavar="N", help=f"the most to try ({rps})")


def _add_bench(command: argparse.ArgumentParser) -> None:
    command.add_argument("--stores", metavar="A,B", help="some (mysql_tuned-setbased, ring …)")
    for name, numbers in Grid()._asdict().items():
        usual = f"{','.join(map(str, numbers))} if not said"
        command.add_argument(f"--{name}", type=_numbers, metavar="N,N", help=usual)
    command.add_argument("--json", action="store_true", help="print the rows and nothing else")
    command.add_argument("--out", type=Path, metavar="DIR")
    command.set_defaults(command=bench_stores)


def _add_plan(command: argparse.ArgumentParser) -> None:
    start = command.add_mutually_exclusive_group(required=True)
    start.add_argument("--daily-users", type=_positive, help="what load do they make?")
    start.add_argument("--rps", type=_above_0, help="how many users a day does a service stand?")
    command.add_argument("--requests-each", type=_above_0, default=50, help="of a user, a day")
    command.add_argument("--peak-factor", type=_above_0, default=3, help="peak over usual traffic")
    command.add_argument(
        "--iteration-requests", type=_positive, default=11, help="of a virtual user"
    )
    command.add_argument(
        "--iteration-s",
        type=_above_0,
        default=11,
        help="how long they take, with pauses and margin",
    )
    command.set_defaults(command=plan_capacity)


def _add_service(command: Any) -> None:
    command.add_argument(
        "--servers",
        choices=CHOICES,
        default="auto",
        help="databases and brokers: installed binaries (local), containers (docker), whichever "
        "is there (auto), or those of DATABASE_URL, REDIS_URL and BROKER_URL (external)",
    )
    command.add_argument("--people", type=_positive, help="1000 for fanout")
    command.add_argument("--friends", type=int, help="of each person; 500 for fanout")
    command.add_argument("--graph", choices=("ring", "star", "zipf"), help="ring for all")
    command.add_argument("--password", help="that everyone can log in with (nobody, but in export)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_positive, text.split(",")))


def _above_0(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def _seconds(text: str) -> int:
    factor = {"s": 1, "m": 60}.get(text[-1:])
    number = int(text[:-1] if factor else text) * (factor or 1)
    if not 1 <= number <= 24 * 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 s and a day")
    return number


if __name__ == "__main__":
    sys.exit(main())
