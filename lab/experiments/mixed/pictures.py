"""The picture of push and pull."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from lab.experiments.mixed.crossover import Bracket, crossovers, reads_per_post, share_of_reads
from lab.reporting.plots import GREY, Line, Points, as_svg, colours_of, legend, panel, panels
from lab.results.result import Result
from lab.results.summary import Summary

TICKS = (0, 0.1, 1, 10, 100, 1000)
POINTS = 500
"""Of a line."""


@as_svg
def cost_of_operations(width: float, compared: Sequence[Summary]) -> Figure:
    """CPU per operation over reads per post: a line per variant, and the crossover as a band."""
    figure, (axes,) = panels(width)
    sound = [it for it in compared if it.is_clean and it.can_be_compared]
    shown = [it for it in sound if reads_per_post(it.load) is not None]
    lines = []
    for name, colour in colours_of(compared).items():
        its = [it for it in shown if it.variant.name == name and it.median(_cost_ms) is not None]
        points = [(_reads(it), it.median(_cost_ms) or 0.0) for it in its]
        if points:
            lines += [Line(name, _between(points), colour), Line("", points, colour, name, "o")]
        lines += [
            Line("", [(_reads(it), end) for end in it.spread(_cost_ms)], colour) for it in its
        ]
    panel(axes, lines, "pages read per post", "CPU ms per operation")
    found = [it for it in crossovers(compared) if isinstance(it, Bracket)]
    if found:
        edges = [it.at for it in found] if len(found) > 1 else [found[0].low, found[0].high]
        axes.axvspan(min(edges), max(edges), color=GREY, alpha=0.3, linewidth=0)
        for bracket in found:
            axes.axvline(bracket.at, color=GREY, linewidth=0.8)
    positive = [_reads(it) for it in shown if _reads(it)]
    axes.set_xscale("symlog", linthresh=min([1.0, *positive]), linscale=0.5)
    axes.set_xticks([it for it in TICKS if it <= max([1.0, *positive])], minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.set_xlim(0, max([1.0, *positive]))
    axes.set_xlabel("pages read per post (log)")
    return legend(figure)


def _between(points: Points) -> Points:
    """Return a line between points: costs are linear in the share of reads, not in its log."""
    shares = [share_of_reads(reads) for reads, _ in points]
    between = np.linspace(shares[0], shares[-1], POINTS)
    costs = np.interp(between, shares, [cost for _, cost in points])
    return list(zip(between / (1 - between), costs, strict=True))


def _reads(summary: Summary) -> float:
    return reads_per_post(summary.load) or 0.0


def _cost_ms(result: Result) -> float | None:
    return result.extra.get("cpu_ms")
