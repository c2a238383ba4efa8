"""The parser of the command line: errors in one line, and examples at the end of each --help."""

import argparse
import re
from typing import NoReturn

from launch.unknown import none_of

INVALID_CHOICE = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)")
EXAMPLES: dict[str, tuple[str, ...]] = {
    "list": ("list", "list --all"),
    "up": (
        "up sqlite-outbox-setbased",
        "up mysql_tuned-outbox-ring --people 200 --friends 50 --port 8001",
    ),
    "live": ("live", "live --people 200 --friends 50 --port 8901"),
    "run": (
        "run fanout --variants sqlite-inline-bulk,sqlite-outbox-setbased --run-time 20s",
        "run fanout --variants mysql_tuned-outbox-ring --repeat 3 --drain-within 2m",
        "run fanout --variants mysql_tuned-outbox-ring@cluster3 --people 200 --friends 50",
        "run faults --variants mysql_tuned-outbox-ring --loads redis-emptied",
        "run fanout --target http://127.0.0.1:9000 --tokens tokens.csv --users 50",
    ),
    "report": ("report results/fanout-20260101-120000",),
    "compare": ("compare results/before results/after",),
    "bench": (
        "bench --stores setbased,ring",
        "bench --stores ring@cluster3 --people 1000 --friends 50,500 --seconds 2",
    ),
    "advise": (
        "advise --people 50000 --friends 120 --largest 40000 --posts-per-s 20 --reads-per-post 30",
        "advise --degrees degrees.csv --daily-users 100000 --markdown",
    ),
    "plan": ("plan --daily-users 100000", "plan --rps 500"),
}
"""What --help shows, by subcommand."""


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


def epilog(subcommand: str) -> str | None:
    """Return the examples of a subcommand, if it has any."""
    lines = [f"  python -m lab {example}" for example in EXAMPLES.get(subcommand, ())]
    return "\n".join(["examples:", *lines]) if lines else None
