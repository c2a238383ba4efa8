"""The picture of a search."""

from collections.abc import Sequence
from itertools import cycle

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.experiments.capacity.summary import tried
from lab.reporting.plots import SERIES, WIDTH, as_svg
from lab.results.summary import Summary
from lab.results.thresholds import held


@as_svg
def search(compared: Sequence[Summary]) -> Figure:
    """The rates that were tried, in turn: a dot where one held, a cross where it broke."""
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for summary, colour in zip(compared, cycle(SERIES), strict=False):
        for repeat in sorted({result.repeat for result in tried(summary)}):
            steps = [result for result in tried(summary) if result.repeat == repeat]
            rates = [result.offered_rps for result in steps]
            name = summary.name if repeat == 1 else None
            axes.plot(range(1, len(steps) + 1), rates, color=colour, label=name, linewidth=0.8)
            for turn, result in enumerate(steps, start=1):
                mark = "o" if held(result) else "x"
                axes.plot(turn, result.offered_rps, mark, color=colour, markersize=4)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.12g}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("step of the search")
    axes.set_ylabel("posts/s offered")
    figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure
