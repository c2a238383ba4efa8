"""The curves of an advice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from lab.advise.answer import Advice, curve
from lab.advise.candidates import Candidate
from lab.advise.model import crossover
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES
from lab.reporting.plots import (
    GREY,
    INK,
    ROLE_COLOURS,
    Line,
    Points,
    as_svg,
    colours,
    legend,
    panel,
    panels,
)

MOST = 3.0
"""Times your rate, or your reads per post: the end of an axis."""
POINTS = 41


@as_svg
def cores_over_posts(width: float, advice: Advice) -> Figure:
    """Cores by role of the advised variant, and all cores of pull and push beside it."""
    figure, (axes,) = panels(width)
    mine, best = advice.situation, advice.best.candidate
    rates = _axis(MOST * mine.posts_per_s)[1:]
    found = curve(best, [replace(mine, posts_per_s=rate) for rate in rates])
    below, xs = np.zeros(len(found)), [situation.posts_per_s for situation, _ in found]
    for role in ROLES:
        cores = np.array([one.cores[role] for _, one in found])
        if cores.any():
            axes.fill_between(xs, below, below + cores, color=ROLE_COLOURS[role], label=role)
            below = below + cores
    other = advice.push if best.pulls else advice.pull
    lines = []
    if other:
        points = _totals(other.candidate, [replace(mine, posts_per_s=rate) for rate in rates])
        lines = [Line(f"all of {other.candidate.name}", points, INK, form="--")]
    panel(axes, lines, "posts/s", "cores, 100 % busy", from_0="xy")
    axes.axvline(mine.posts_per_s, color=INK, linewidth=0.8, linestyle=":")
    return legend(figure)


@as_svg
def cores_over_reads(width: float, advice: Advice) -> Figure:
    """All cores of each candidate over the pages read per post, and where pull meets push."""
    figure, (axes,) = panels(width)
    mine, pull, push = advice.situation, advice.pull, advice.push
    at = crossover(pull, push, mine) if pull and push else None
    reads = _axis(MOST * max(mine.reads_per_post, at or 0.0, 1.0))
    situations = [replace(mine, reads_per_post=it) for it in reads]
    names = [found.candidate.name for found in advice.every]
    lines = [
        Line(name, _totals(found.candidate, situations), colour)
        for found, (name, colour) in zip(advice.every, colours(names).items(), strict=True)
    ]
    yours = [(mine.reads_per_post, advice.best.total)]
    panel(
        axes, [*lines, Line("you", yours, INK, form="o")], "pages read per post",
        "cores, 100 % busy", from_0="xy",
    )  # fmt: skip
    if at:
        axes.axvline(at, color=GREY, linewidth=1, linestyle="--", label=f"push from {at:.3g} reads")
    return legend(figure)


def _axis(most: float) -> list[float]:
    return [float(it) for it in np.linspace(0.0, most, POINTS)]


def _totals(candidate: Candidate, situations: Sequence[Situation]) -> Points:
    """Return all cores by what differs between the situations, as far as that was measured."""
    by_rate = len({it.posts_per_s for it in situations}) > 1
    return [
        (it.posts_per_s if by_rate else it.reads_per_post, found.total)
        for it, found in curve(candidate, situations)
    ]
