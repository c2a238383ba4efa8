"""The curves of an advice."""

from dataclasses import replace
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.advise.answer import Advice, curve, with_rates
from lab.advise.model import crossover
from lab.experiments.mixed.costs import ROLES
from lab.reporting.plots import GREY, INK, ROLE_COLOURS, SERIES, WIDTH, as_svg

FACTORS = [float(it) for it in np.geomspace(0.1, 10, 41)]
WIDEST = 100.0


@as_svg
def cores_over_posts(advice: Advice) -> Figure:
    """Cores by role of the advised variant, and all cores of pull and push beside it."""
    figure, axes = _axes()
    points = curve(advice.best.candidate, with_rates(advice.situation, FACTORS))
    rates = [situation.posts_per_s for situation, _ in points]
    below = np.zeros(len(rates))
    for role in ROLES:
        cores = np.array([found.cores[role] for _, found in points])
        if cores.any():
            colour = ROLE_COLOURS[role]
            axes.fill_between(rates, below, below + cores, color=colour, label=role, alpha=0.8)
            below = below + cores
    other = advice.push if advice.best.candidate.pulls else advice.pull
    if other:
        beside = curve(other.candidate, with_rates(advice.situation, FACTORS))
        axes.plot(
            [situation.posts_per_s for situation, _ in beside],
            [found.total for _, found in beside],
            color=INK, linestyle="--", linewidth=1.2, label=f"all of {other.candidate.name}",
        )  # fmt: skip
    axes.axvline(advice.situation.posts_per_s, color=INK, linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("posts/s (log; dotted: yours)")
    axes.set_ylabel("cores, 100 % busy")
    figure.legend(loc="outside lower center", ncols=3, fontsize=7)
    return figure


@as_svg
def cores_over_reads(advice: Advice) -> Figure:
    """All cores of each candidate over the pages read per post, and where pull meets push."""
    figure, axes = _axes()
    asked = advice.situation.reads_per_post
    reads = [0.0, *(float(it) for it in np.geomspace(0.1, max(WIDEST, 3 * asked), 40))]
    situations = [replace(advice.situation, reads_per_post=it) for it in reads]
    for found, colour in zip(advice.every, cycle(SERIES), strict=False):
        points = curve(found.candidate, situations)
        axes.plot(
            [situation.reads_per_post for situation, _ in points],
            [one.total for _, one in points],
            color=colour, label=found.candidate.name, linewidth=1.2,
        )  # fmt: skip
    axes.plot(asked, advice.best.total, "o", color=INK, markersize=5, label="yours")
    at = (
        crossover(advice.pull, advice.push, advice.situation)
        if advice.pull and advice.push
        else None
    )
    if at and at <= reads[-1]:
        axes.axvline(at, color=GREY, linewidth=1, linestyle="--", label=f"push from {at:.3g} reads")
    axes.set_xscale("symlog", linthresh=0.1, linscale=0.3)
    axes.set_yscale("log")
    axes.set_xlim(0, reads[-1])
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.yaxis.set_major_formatter("{x:,.12g}")
    axes.set_xlabel("pages read per post (log)")
    axes.set_ylabel("cores, 100 % busy (log)")
    figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    return figure, figure.add_subplot()
