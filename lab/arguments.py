"""The command line of the laboratory: its parser, and the arguments of each subcommand."""

import argparse
import re
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple, NoReturn

from lab.bench.targets import Grid
from lab.experiments import EXPERIMENTS
from launch.servers import CHOICES
from launch.unknown import none_of

PUBLISHED = "published"
"""Runs every experiment that replays a published document."""
UNITS_S = {"s": 1, "m": 60}
INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")


class Command(NamedTuple):
    """A subcommand."""

    text: str
    """What --help says of it."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]
    """Returns the exit status; None: 0."""
    examples: tuple[str, ...]
    """What its --help shows at the end."""


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong and where to look, instead of printing all options."""

    def error(self, message: str) -> NoReturn:
        """Refuse what argparse does not understand."""
        plain = INVALID_CHOICE.sub(_unknown, message)
        self.refuse(f"{plain} (examples: {self.prog} --help)")

    def refuse(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def _unknown(choice: re.Match[str]) -> str:
    return none_of(choice[1], re.findall(r"[\w-]+", choice[2]))


def parser(commands: Mapping[str, Command], description: str | None) -> argparse.ArgumentParser:
    """Return the parser; what it reads has ``run`` and ``refuse`` of its subcommand."""
    top = Parser(prog="python -m lab", description=description)
    below = top.add_subparsers(required=True, metavar="COMMAND")
    for name, command in commands.items():
        one = below.add_parser(
            name,
            help=command.text,
            description=f"{command.text[0].upper()}{command.text[1:]}.",
            epilog="\n  python -m lab ".join(["examples:", *command.examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(one)
        one.set_defaults(run=command.run, refuse=one.refuse)
    return top


def add_list(command: argparse.ArgumentParser) -> None:
    every = "all variants of every experiment, and what a name can say"
    command.add_argument("--all", action="store_true", help=every)


def add_up(command: argparse.ArgumentParser) -> None:
    command.add_argument("variant", help="its name, like those of python -m lab list")
    command.add_argument(
        "--experiment",
        choices=EXPERIMENTS,
        default="fanout",
        metavar="EXPERIMENT",
        help="whose people and variants (fanout)",
    )
    command.add_argument("--port", type=_port, default=8000, metavar="N", help="8000, if not given")
    tokens = "where to write everyone's access tokens (var/tokens.csv)"
    default = Path("var/tokens.csv")
    command.add_argument("--tokens", type=Path, default=default, metavar="FILE", help=tokens)
    _add_service(command)


def add_live(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=_port, default=8900, metavar="N", help="8900, if not given")
    _add_servers_and_people(command)


def add_run(command: argparse.ArgumentParser) -> None:
    names = [*EXPERIMENTS, PUBLISHED]
    command.add_argument(
        "experiment",
        choices=names,
        metavar="EXPERIMENT",
        help=f"one of {', '.join(names)} ({PUBLISHED}: all replays)",
    )
    command.add_argument(
        "--variants", metavar="A,B", help="one or more variants, separated by commas"
    )
    command.add_argument("--loads", metavar="A,B", help="one or more of the experiment's loads")
    users = "how many make the load (500 for fanout); for capacity the rate to begin with"
    command.add_argument("--users", type=_positive, metavar="N", help=users)
    measured = "how long is measured, like 30s (fanout's) or 3m"
    command.add_argument(
        "--run-time", type=_seconds, dest="run_time_s", metavar="TIME", help=measured
    )
    repeat = "runs of each variant, in rotated order (1)"
    command.add_argument("--repeat", type=_positive, default=1, metavar="N", help=repeat)
    arrivals = (
        "closed: users keep a schedule but wait for each answer; paused: they pause after each "
        "answer; checked: after each but a failure; open: they keep the schedule, answered or not"
    )
    kinds = ("closed", "paused", "checked", "open")
    command.add_argument("--arrivals", choices=kinds, help=arrivals)
    drain = "a backlog that takes longer is left (8m; for capacity 1m)"
    command.add_argument("--drain-within", type=_seconds, metavar="TIME", help=drain)
    edges = "friends, as usual, or follows: one-way, as with @follows behind each variant"
    command.add_argument("--edges", choices=("friends", "follows"), help=edges)
    shared = "other programs use this machine too: judge the deliveries, not the figures"
    command.add_argument("--shared", action="store_true", help=shared)
    resume = "keep finished runs of --out of the same command and commit; none of uncommitted code"
    command.add_argument("--resume", action="store_true", help=resume)
    out = "where to write the results and their page (results/EXPERIMENT-TIME)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)
    _add_service(command)
    _add_target(command)
    known: set[str] = set()
    for experiment in EXPERIMENTS.values():
        # One that is made of another shares its options.
        own = {name: text for name, text in experiment.options.items() if name not in known}
        known |= own.keys()
        if own:
            group = command.add_argument_group(f"{experiment.name} only")
            for name, text in own.items():
                option = f"--{name.replace('_', '-')}"
                group.add_argument(option, type=_above_0, metavar="N", help=text)


def _add_target(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("a service that runs already (docs/target-api.md)")
    group.add_argument("--target", metavar="URL", help="where; the variant's name is target")
    group.add_argument("--tokens", type=Path, metavar="FILE", help="its people: person_id,token")
    befriend = "first make the friendships of --graph and --friends through the API"
    group.add_argument("--befriend", action="store_true", help=befriend)
    pids = "its processes, all of them, like web=12,redis=34; else its CPU is not measured"
    group.add_argument("--pids", type=_pids, default={}, metavar="ROLE=PID,…", help=pids)
    may = "the target isn't on this machine, and its owner agrees to be put under load"
    group.add_argument("--i-may", action="store_true", help=may)


def add_report(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", type=Path, metavar="DIR", help="of lab run or lab bench")


def add_compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", type=Path, metavar="DIR1", help="results before a change")
    command.add_argument("second", type=Path, metavar="DIR2", help="results after it")
    command.add_argument("--anyway", action="store_true", help="even if the machines differ")


def add_bench(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--stores", metavar="A,B", help="which ones, like mysql_tuned-setbased,ring (all)"
    )
    for name, numbers in Grid()._asdict().items():
        usual = f"default: {','.join(map(str, numbers))}"
        command.add_argument(f"--{name}", type=_numbers, metavar="N,N", help=usual)
    command.add_argument("--seconds", type=_above_0, default=0.5, help="per cell of the stores")
    command.add_argument("--json", action="store_true", help="print the rows and nothing else")
    out = "where to write the rows and their page (results/bench-TIME)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)


def add_figures(command: argparse.ArgumentParser) -> None:
    only = "some of the list (lab/texts/runs.toml)"
    command.add_argument("--only", metavar="A,B", help=only)
    what = command.add_mutually_exclusive_group()
    short = "for about a minute each, from any code; print how the texts would change"
    what.add_argument("--short", action="store_true", help=short)
    write = "run nothing: put what has finished into docs/example and the texts"
    what.add_argument("--write", action="store_true", help=write)
    out = "where the results are kept until they are written (results/figures, or figures-short)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)


def add_plan(command: argparse.ArgumentParser) -> None:
    start = command.add_mutually_exclusive_group(required=True)
    start.add_argument("--daily-users", type=_positive, help="what load do they make?")
    start.add_argument("--rps", type=_above_0, help="for how many daily users is that enough?")
    command.add_argument("--requests-each", type=_above_0, default=50, help="per user and day")
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


def add_challenge(command: argparse.ArgumentParser) -> None:
    start = "what starts your service (docs/challenge.md says what it gets, and has to answer)"
    command.add_argument("--start", metavar="COMMAND", required=True, help=start)
    stages = "numbers of stages, like 1,2 or 1-4 (all; the last one only with --empty)"
    command.add_argument("--stages", type=_ranges, metavar="N,N-N", help=stages)
    empty = "what empties your cache, for the last stage; gets FOLDER like your service"
    command.add_argument("--empty", metavar="COMMAND", help=empty)
    out = "where to write the verdict as a page and as JSON (results/challenge-TIME)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)


def add_check(command: argparse.ArgumentParser) -> None:
    lesson = "its number, like 1; none: all questions"
    command.add_argument("lesson", type=_positive, nargs="?", metavar="LESSON", help=lesson)
    answer = "a number, or one of the words behind the question; none: the question"
    command.add_argument("answer", nargs="?", metavar="ANSWER", help=answer)
    out = "where to write the run and its page (results/check-LESSON-TIME)"
    command.add_argument("--out", type=Path, metavar="DIR", help=out)


def add_advise(command: argparse.ArgumentParser) -> None:
    graph = command.add_mutually_exclusive_group(required=True)
    graph.add_argument("--people", type=_positive, metavar="N", help="how many; with --friends")
    degrees = "CSV: one person's number of friends, or friends,people, a line"
    graph.add_argument("--degrees", type=Path, metavar="FILE", help=degrees)
    command.add_argument("--friends", type=_above_0, help="mean; with --people")
    followers = "instead of friends: readers of a post, mean; whom one person follows, mean"
    command.add_argument("--followers", type=_above_0, help=followers)
    command.add_argument("--following", type=_above_0, help="the second of these")
    most = "readers of the person who has most (default: the mean)"
    command.add_argument("--largest", type=_positive, help=most)
    load = command.add_mutually_exclusive_group(required=True)
    load.add_argument("--posts-per-s", type=_above_0, help="at the peak")
    load.add_argument("--daily-users", type=_positive, help="whose posts and reads make the load")
    command.add_argument("--requests-each", type=_above_0, default=50, help="per user and day (50)")
    command.add_argument("--peak-factor", type=_above_0, default=3, help="peak over usual (3)")
    command.add_argument("--reads-per-post", type=_at_least_0, default=10, help="pages (10)")
    command.add_argument("--active", type=_above_0, default=1, help="share who come (1)")
    command.add_argument("--lag-ms", type=_above_0, default=1000, help="budget (1000)")
    node = "memory of a primary of a Redis Cluster for timelines (25)"
    command.add_argument("--node-gib", type=_above_0, default=25, help=node)
    kept = "entries per timeline (800, as the service keeps)"
    command.add_argument("--kept", type=_positive, default=800, help=kept)
    busy = "share of a core that may be busy at the peak (0.5)"
    command.add_argument("--busy", type=_above_0, default=0.5, help=busy)
    cores = "of the largest database server that you would buy (16)"
    command.add_argument("--database-cores", type=_above_0, default=16, help=cores)
    costs = "a bench, results of mixed, perhaps of queues (default: below results, the newest)"
    command.add_argument("--costs", metavar="DIR,DIR", help=costs)
    command.add_argument("--markdown", action="store_true", help="print that and nothing else")
    check = "compare what the model says with these runs instead, which costs must not be from"
    command.add_argument("--check", type=Path, metavar="DIR", help=check)
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="for advice.html (results/advise-…)"
    )


def _add_servers_and_people(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--servers",
        choices=CHOICES,
        default="auto",
        help="databases and brokers: installed binaries (local), containers (docker), whichever "
        "is there (auto), or those of DATABASE_URL, REDIS_URL and BROKER_URL (external)",
    )
    people = "how many there are (1000 for fanout)"
    command.add_argument("--people", type=_positive, metavar="N", help=people)
    command.add_argument(
        "--friends",
        type=_count,
        metavar="N",
        help="of each person, fewer than --people; 500 for fanout",
    )


def _add_service(command: argparse.ArgumentParser) -> None:
    _add_servers_and_people(command)
    graph = (
        "ring, the usual one: everyone has as many friends; star: only person 1 has; zipf: a few "
        "people have very many; or a CSV file of edges (author_id,reader_id) or of people "
        "(followers,following)"
    )
    command.add_argument("--graph", type=_graph, metavar="GRAPH", help=graph)
    largest = "readers of person 1, who posts too; fewer than --people"
    command.add_argument("--largest", type=_positive, metavar="N", help=largest)
    command.add_argument("--password", help="that everyone can log in with (nobody, but in export)")


def _graph(text: str) -> str:
    names = ("ring", "star", "zipf")
    if text not in names and not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"{none_of(text, names)}; a file may be named, too")
    return text


def _whole(text: str, least: int, most: float = inf) -> int:
    number = int(text) if text.isdecimal() else -1
    if not least <= number <= most:
        limit = f"of {least:,} or more" if most == inf else f"from {least:,} to {most:,}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {limit}")
    return number


_positive = partial(_whole, least=1)
_count = partial(_whole, least=0)
_port = partial(_whole, least=1, most=65535)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(_positive, text.split(",")))


def _ranges(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(_positive(first), _positive(last or first) + 1)
    if not numbers:
        raise argparse.ArgumentTypeError(f"{text!r} names no number")
    return numbers


def _pids(text: str) -> dict[str, int]:
    try:
        return {role: int(pid) for role, pid in (pair.split("=") for pair in text.split(","))}
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like web=12,redis=34") from None


def _above_0(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, like 20 or 0.5")
    return number


def _at_least_0(text: str) -> float:
    return 0.0 if text == "0" else _above_0(text)


def _seconds(text: str) -> int:
    number, unit = (text[:-1], text[-1:]) if text[-1:] in UNITS_S else (text, "s")
    seconds = int(number) * UNITS_S[unit] if number.isdecimal() else 0
    if not 1 <= seconds <= 24 * 3600:
        text = f"{text!r} is not a time from 1s to a day; write it like 20s or 2m"
        raise argparse.ArgumentTypeError(text)
    return seconds
