"""The order of the runs: in each round, every variant is put under its next load."""

from collections.abc import Callable, Generator, Sequence

from lab.running.load import Load
from lab.progress import console
from lab.results.result import Result
from launch.variants import Variant

Search = Generator[Load, Result, None]
"""Yields the loads of a variant, one after another, and is sent what each came to."""


def rounds(
    searches: Sequence[tuple[Variant, Search]], run: Callable[[Variant, Load], Result]
) -> None:
    """Run until every search has ended; a machine that changes meanwhile changes for all alike."""
    under_way: list[tuple[Variant, Search, Result | None]] = [(*one, None) for one in searches]
    number = 0
    while under_way:
        number += 1
        going_on: list[tuple[Variant, Search, Result | None]] = []
        for turn, (variant, search, result) in enumerate(under_way, start=1):
            load = _next(search, result)
            if load is not None:
                console.print(f"round {number}, {turn} of {len(under_way)}: ", end="")
                going_on.append((variant, search, run(variant, load)))
        under_way = going_on


def _next(search: Search, before: Result | None) -> Load | None:
    try:
        return next(search) if before is None else search.send(before)
    except StopIteration:
        return None
