"""python -m lab: run the variants of an experiment side by side, and prove what they delivered."""

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from lab import arguments, load_calculator
from lab.advise.answer import advise
from lab.advise.candidates import measured as measured_costs
from lab.advise.candidates import newest
from lab.advise.check import check
from lab.advise.output import PAGE, page_of
from lab.advise.situation import situation_of
from lab.arguments import PUBLISHED, Command, parser
from lab.before import as_line, check_folders, check_servers, claim
from lab.bench import bench
from lab.bench.output import report_bench
from lab.bench.record import FILE as BENCH
from lab.bench.targets import Grid, choose
from lab.challenge.run import PAGE as CHALLENGE
from lab.challenge.run import challenge
from lab.challenge.stages import chosen as chosen_stages
from lab.course import check as check_exercise
from lab.course import exercise_of, print_questions
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
from lab.texts.make import differences, entries, keep
from lab.texts.make import run as run_list
from lab.texts.slides import SLIDES, slides
from lab.texts.write import PICTURE, TEXTS, draw, write
from launch.processes import RunFailed
from launch.service import Seed
from launch.variants import Variant

RESULTS = Path("results")
FOLLOWS = "follows"
"""The part of variants, and what --edges may say."""


def main(argv: Sequence[str] | None = None) -> int:
    top = parser(COMMANDS, __doc__)
    options = top.parse_args(argv)
    refuse: Callable[[str], NoReturn] = options.refuse
    for number in (signal.SIGINT, signal.SIGTERM):  # clean up, also where a shell ignores Ctrl-C
        signal.signal(number, signal.default_int_handler)
    try:
        return int(options.run(options) or 0)
    except (ValueError, FileNotFoundError) as error:
        refuse(as_line(error))
    except (RunFailed, OSError) as error:
        print(as_line(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def list_variants(options: argparse.Namespace) -> None:
    if options.all:
        print_all()
    else:
        print_first()


def run_experiments(options: argparse.Namespace) -> int:
    """Run one experiment, or every replay in turn, each below --out; return the worst status."""
    out = _out(options, options.experiment)
    if options.experiment != PUBLISHED:
        return run_experiment(EXPERIMENTS[options.experiment], options, out)
    replays = [experiment for experiment in EXPERIMENTS.values() if experiment.document]
    if options.variants is not None or options.loads:
        names = ", ".join(replay.name for replay in replays)
        raise ValueError(f"--variants and --loads belong to one experiment: {names}")
    worst = 0
    claim(out)
    for replay in replays:
        worst = max(worst, run_experiment(replay, options, out / replay.name), key=HARM)
        if worst == INTERRUPTED:
            break
    return worst


def run_experiment(experiment: Experiment, given: argparse.Namespace, out: Path) -> int:
    variants, options = _variants(experiment, given), run_options(experiment, given)
    chosen(experiment.loads(options), options.loads)  # refuses unknown names before it begins
    check_servers(variants, options.servers)
    others = {result.experiment for result in read_results(out)} - {experiment.name}
    if others:
        raise ValueError(f"{out} has results of {', '.join(sorted(others))}: choose another --out")
    claim(out)
    cut_short = run_matrix(experiment, variants, options, out)
    status = report(out)
    print_page(out / "report.html")
    return cut_short or status


def serve_variant(given: argparse.Namespace) -> None:
    experiment = EXPERIMENTS[given.experiment]
    options = RunOptions(seed=_seed(experiment, given), servers=given.servers)
    variant = experiment.variant(given.variant)
    check_servers([variant], options.servers)
    check_folders(given.tokens.parent)
    serve(experiment, variant, options, port=given.port, tokens=given.tokens)


def serve_page(options: argparse.Namespace) -> None:
    from lab.live.page import serve as serve_live  # noqa: PLC0415  NiceGUI takes a second

    serve_live(_seed(EXPERIMENTS["fanout"], options), options.servers, options.port)


def report_results(options: argparse.Namespace) -> int:
    if (options.folder / BENCH).exists():
        return 0 if report_bench(options.folder) else 1
    status = report(options.folder)
    print_page(options.folder / "report.html")
    return status


def compare_results(options: argparse.Namespace) -> None:
    print_page(compare(options.first, options.second, anyway=options.anyway))


def bench_stores(options: argparse.Namespace) -> int:
    grid = Grid.checked(people=options.people, friends=options.friends, batch=options.batch)
    targets, out = choose(options.stores), _out(options, "bench")
    claim(out)
    return 0 if bench(targets, grid, out, seconds=options.seconds, as_json=options.json) else 1


def make_figures(options: argparse.Namespace) -> int:
    out = options.out or RESULTS / ("figures-short" if options.short else "figures")
    if options.write:
        keep(out)
        for text in TEXTS:
            text.write_text(write(text.read_text()))
        PICTURE.write_text(draw())
        SLIDES.write_text(slides())
        return 0
    status = run_list(entries(options.only), out, short=options.short)
    if options.short and not status:
        print(differences(out))
    return status


def try_challenge(options: argparse.Namespace) -> int:
    stages = chosen_stages(options.stages, options.empty)
    out = _out(options, "challenge")
    claim(out)
    passed = challenge(options.start, stages, out, options.empty)
    print_page(out / CHALLENGE)
    return 0 if passed else 1


def check_answer(options: argparse.Namespace) -> int:
    """Run what answers a lesson's question; without an answer, print the question or all."""
    if options.lesson is None:
        print_questions()
        return 0
    exercise = exercise_of(options.lesson)
    if options.answer is None:
        print(f"{exercise.question} ({exercise.what})")
        return 0
    exercise.checked(options.answer)
    out = _out(options, f"check-{options.lesson}")
    given = parser(COMMANDS, None).parse_args(["run", *exercise.run.split(), f"--out={out}"])
    run_experiments(given)
    return 0 if check_exercise(exercise, options.answer, out) else 1


def plan_capacity(options: argparse.Namespace) -> None:
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


def give_advice(options: argparse.Namespace) -> int:
    situation = situation_of(options)
    named = [Path(folder) for folder in options.costs.split(",")] if options.costs else None
    measured = measured_costs(named or newest(RESULTS, without=options.check))
    if options.check:
        table, holds = check(read_results(options.check), measured)
        print_whole(table.as_rich())
        return 0 if holds else 1
    advice = advise(situation, measured, calibration_ms=calibration_ms())
    page = page_of(advice)
    if options.markdown:
        print(page.as_markdown())
    else:
        page.show()
    print_page(page.write(_out(options, "advise") / PAGE))
    return 0


COMMANDS = {
    "list": Command(
        "ten variants to begin with, or everything that can be named",
        arguments.add_list,
        list_variants,
        ("list", "list --all"),
    ),
    "up": Command(
        "serve a variant until Ctrl-C",
        arguments.add_up,
        serve_variant,
        (
            "up sqlite-outbox-setbased",
            "up mysql_tuned-outbox-ring --people 200 --friends 50 --port 8001",
        ),
    ),
    "live": Command(
        "watch two variants side by side in a browser",
        arguments.add_live,
        serve_page,
        ("live", "live --people 200 --friends 50 --port 8901"),
    ),
    "run": Command(
        "measure and audit variants, one after another",
        arguments.add_run,
        run_experiments,
        (
            "run fanout --variants sqlite-inline-bulk,sqlite-outbox-setbased --run-time 20s",
            "run fanout --variants mysql_tuned-outbox-ring --repeat 3 --drain-within 2m",
            "run fanout --variants mysql_tuned-outbox-ring@cluster3 --people 200 --friends 50",
            "run faults --variants mysql_tuned-outbox-ring --loads redis-emptied",
            "run fanout --target http://127.0.0.1:9000 --tokens tokens.csv --users 50",
        ),
    ),
    "report": Command(
        "compare the results of a run",
        arguments.add_report,
        report_results,
        ("report results/fanout-20260101-120000",),
    ),
    "compare": Command(
        "put two runs side by side",
        arguments.add_compare,
        compare_results,
        ("compare results/before results/after",),
    ),
    "bench": Command(
        "time the delivery engine alone, every store",
        arguments.add_bench,
        bench_stores,
        (
            "bench --stores setbased,ring",
            "bench --stores ring@cluster3 --people 1000 --friends 50,500 --seconds 2",
        ),
    ),
    "challenge": Command(
        "try your own feed in stages, in any language",
        arguments.add_challenge,
        try_challenge,
        (
            "challenge --start ./my-feed",
            "challenge --start ./my-feed --stages 1,2",
        ),
    ),
    "check": Command(
        "answer a lesson's question, and let a run judge it",
        arguments.add_check,
        check_answer,
        ("check", "check 1", "check 1 42"),
    ),
    "advise": Command(
        "which variant for your people and load, and how much of everything",
        arguments.add_advise,
        give_advice,
        (
            "advise --people 50000 --friends 120 --largest 40000 --posts-per-s 20 "
            "--reads-per-post 30",
            "advise --degrees degrees.csv --daily-users 100000 --markdown",
        ),
    ),
    "figures": Command(
        "measure again what the documents say, and write it into them",
        arguments.add_figures,
        make_figures,
        ("figures --only headline", "figures --short", "figures --write"),
    ),
    "plan": Command(
        "convert daily users to requests per second and back",
        arguments.add_plan,
        plan_capacity,
        ("plan --daily-users 100000", "plan --rps 500"),
    ),
}


def _variants(experiment: Experiment, options: argparse.Namespace) -> list[Variant]:
    """Return the variants asked for. Raises ValueError for a target that isn't told or allowed."""
    usual = (TARGET,) if options.target else experiment.variants
    names = usual if options.variants is None else options.variants.split(",")
    if options.edges == FOLLOWS:
        names = [f"{name}{'+' if '@' in name else '@'}{FOLLOWS}" for name in names]
    variants = [experiment.variant(name.strip()) for name in names]
    return [_met(one, options) if isinstance(one, TargetVariant) else one for one in variants]


def _met(variant: TargetVariant, options: argparse.Namespace) -> TargetVariant:
    if not options.target or not options.tokens:
        raise ValueError("the variant target needs --target URL and --tokens FILE")
    check_host(options.target, may=options.i_may)
    return variant.at(options.target, options.tokens, pids=options.pids, befriends=options.befriend)


def _out(options: argparse.Namespace, name: str) -> Path:
    out: Path | None = options.out
    return out or RESULTS / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"


def run_options(experiment: Experiment, given: argparse.Namespace) -> RunOptions:
    """Return what is asked of the runs of an experiment. Raises ValueError for what can't be."""
    same = ("users", "run_time_s", "arrivals", "loads", "servers", "repeat", "resume", "shared")
    return RunOptions(
        **{name: getattr(given, name) for name in same},
        own=_own_options(experiment, given),
        seed=_seed(experiment, given),
        drain_within_s=given.drain_within or experiment.drain_within_s,
    )


def _seed(experiment: Experiment, options: argparse.Namespace) -> Seed:
    """Return the experiment's people, unless the command line asks for others.

    Raises ValueError if they are impossible.
    """
    given = {name: getattr(options, name, None) for name in Seed._fields}
    seed = experiment.seed._replace(**{k: v for k, v in given.items() if v is not None})
    seed.check()
    return seed


def _own_options(experiment: Experiment, options: argparse.Namespace) -> dict[str, float]:
    """Return the options that only this experiment has. Raises ValueError for another's."""
    names = {name for other in EXPERIMENTS.values() for name in other.options}
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    for name in given.keys() - experiment.options.keys():
        raise ValueError(f"{experiment.name} has no --{name.replace('_', '-')}")
    return given


if __name__ == "__main__":
    sys.exit(main())
