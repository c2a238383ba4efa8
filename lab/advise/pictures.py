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
    situation, best = advice.situation, advice.best.candidate
    rates = _axis(MOST * situation.posts_per_s)[1:]
    points_needed = curve(best, [replace(situation, posts_per_s=rate) for rate in rates])
    below, xs = np.zeros(len(points_needed)), [at.posts_per_s for at, _ in points_needed]
    for role in ROLES:
        cores = np.array([needed.cores[role] for _, needed in points_needed])
        if cores.any():
            axes.fill_between(xs, below, below + cores, color=ROLE_COLOURS[role], label=role)
            below = below + cores
    other = advice.push if best.pulls else advice.pull
    lines = []
    if other:
        points = _totals(other.candidate, [replace(situation, posts_per_s=rate) for rate in rates])
        lines = [Line(f"all of {other.candidate.name}", points, INK, form="--")]
    panel(axes, lines, "posts/s", "cores, 100 % busy", from_0="xy")
    axes.axvline(situation.posts_per_s, color=INK, linewidth=0.8, linestyle=":")
    return legend(figure)


@as_svg
def cores_over_reads(width: float, advice: Advice) -> Figure:
    """All cores of each candidate over the pages read per post, and where pull meets push."""
    figure, (axes,) = panels(width)
    situation, pull, push = advice.situation, advice.pull, advice.push
    at = crossover(pull, push, situation) if pull and push else None
    reads = _axis(MOST * max(situation.reads_per_post, at or 0.0, 1.0))
    situations = [replace(situation, reads_per_post=each) for each in reads]
    names = [needed.candidate.name for needed in advice.every]
    lines = [
        Line(name, _totals(needed.candidate, situations), colour)
        for needed, (name, colour) in zip(advice.every, colours(names).items(), strict=True)
    ]
    yours = [(situation.reads_per_post, advice.best.total)]
    panel(
        axes, [*lines, Line("you", yours, INK, form="o")], "pages read per post",
        "cores, 100 % busy", from_0="xy",
    )  # fmt: skip
    if at:
        axes.axvline(at, color=GREY, linewidth=1, linestyle="--", label=f"push from {at:.3g} reads")
    return legend(figure)


def _axis(most: float) -> list[float]:
    return [float(value) for value in np.linspace(0.0, most, POINTS)]


def _totals(candidate: Candidate, situations: Sequence[Situation]) -> Points:
    """Return all cores by what differs between the situations, as far as that was measured."""
    by_rate = len({situation.posts_per_s for situation in situations}) > 1
    return [
        (situation.posts_per_s if by_rate else situation.reads_per_post, needed.total)
        for situation, needed in curve(candidate, situations)
    ]
