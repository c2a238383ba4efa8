"""The picture of push and pull."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from lab.experiments.mixed.crossover import Bracket, crossovers, reads_per_post, share_of_reads
from lab.reporting.plots import GREY, SERIES, WIDTH, as_svg
from lab.results.result import Result
from lab.results.summary import Summary

TICKS = (0, 0.1, 1, 10, 100, 1000)
POINTS = 500
"""Of a line."""
Floats = NDArray[np.float64]


@as_svg
def cost_of_operations(compared: Sequence[Summary]) -> Figure:
    """CPU per operation over reads per post: a line per variant, and the crossover as a band."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    axes = figure.add_subplot()
    sound = [it for it in compared if it.is_clean and it.can_be_compared]
    shown = [it for it in sound if reads_per_post(it.load) is not None]
    names = dict.fromkeys(summary.variant.name for summary in shown)
    for name, colour in zip(names, cycle(SERIES), strict=False):
        points = [
            (_reads(it), cost, it.spread(_cost_ms))
            for it in shown
            if it.variant.name == name and (cost := it.median(_cost_ms)) is not None
        ]
        if points:
            reads, costs, spreads = zip(*points, strict=True)
            axes.plot(*_line(reads, costs), color=colour, label=name, linewidth=1.2)
            axes.plot(reads, costs, "o", color=colour, markersize=3)
            lows, highs = zip(*spreads, strict=True)
            axes.vlines(reads, lows, highs, color=colour, linewidth=1.2)
    found = [it for it in crossovers(compared) if isinstance(it, Bracket)]
    if found:
        edges = [it.at for it in found] if len(found) > 1 else [found[0].low, found[0].high]
        axes.axvspan(min(edges), max(edges), color=GREY, alpha=0.3, linewidth=0)
        for bracket in found:
            axes.axvline(bracket.at, color=GREY, linewidth=0.8)
    positive = [_reads(it) for it in shown if _reads(it)]
    axes.set_xscale("symlog", linthresh=min([1.0, *positive]), linscale=0.5)
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.set_xlim(0, max([1.0, *positive]))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("pages read per post (log)")
    axes.set_ylabel("CPU ms per operation")
    if axes.lines:
        figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _line(reads: Sequence[float], costs: Sequence[float]) -> tuple[Floats, Floats]:
    """Return a line between points: costs are linear in the share of reads, not in its log."""
    shares = [share_of_reads(it) for it in reads]
    between = np.linspace(shares[0], shares[-1], POINTS)
    return between / (1 - between), np.interp(between, shares, costs)


def _reads(summary: Summary) -> float:
    return reads_per_post(summary.load) or 0.0


def _cost_ms(result: Result) -> float | None:
    return result.extra.get("cpu_ms")
