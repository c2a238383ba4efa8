"""The picture of a search."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.experiments.capacity.summary import by_search, tried
from lab.reporting.plots import Line, as_svg, colours_of, legend, panel, panels
from lab.results.summary import Summary
from lab.results.thresholds import held


@as_svg
def search(width: float, compared: Sequence[Summary]) -> Figure:
    """The rates that were tried, in turn: a dot where one held, a cross where it broke."""
    figure, (axes,) = panels(width)
    lines = []
    for summary in compared:
        colour = colours_of(compared)[summary.variant.name]
        for at, steps in enumerate(by_search(tried(summary))):
            points = [(turn, it.offered_rps) for turn, it in enumerate(steps, start=1)]
            lines.append(Line("" if at else summary.name, points, colour, summary.name))
            for point, result in zip(points, steps, strict=True):
                lines.append(Line("", [point], colour, form="o" if held(result) else "x"))
    panel(axes, lines, "step of the search", "posts/s offered")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return legend(figure)
