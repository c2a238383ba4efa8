"""The first screen of a report: what was tried, and what to do with the answer."""

import os
from collections.abc import Sequence
from pathlib import Path

from lab.reporting.comparison import presentation_of, ranked
from lab.results.result import Result
from lab.results.summary import Summary

REPOSITORY = Path(__file__).parents[2]


def tried(results: Sequence[Result], compared: Sequence[Summary]) -> str:
    first = results[0]
    variants = len({summary.variant.name for summary in compared})
    window = f", {first.window_s} s measured in each" if first.window_s else ""
    counts = f"variants: {variants}, runs: {len(results)}"
    return f"The experiment {first.experiment} ({counts}){window}."


def advice(compared: Sequence[Summary]) -> str:
    best = [] if presentation_of(compared).verdict(compared) else ranked(compared)
    if not best:
        return "Compare it with a second run before you rely on a figure."
    return (
        f"For this load, begin with {best[0].name}, and repeat it on your machine with the "
        "command under Variants below. Figures of another machine or load don't carry over."
    )


def lesson(path: str, folder: Path) -> dict[str, str | None]:
    """Return a page of the repository, with a link where the report lies in the repository."""
    here = folder.resolve()
    is_inside = here.is_relative_to(REPOSITORY)
    return {"path": path, "link": os.path.relpath(REPOSITORY / path, here) if is_inside else None}
