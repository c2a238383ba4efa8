"""The picture of a run at several times what holds."""

from collections.abc import Sequence
from itertools import cycle

from matplotlib.figure import Figure

from lab.reporting.plots import INK, SERIES, WIDTH, as_svg
from lab.results.summary import Summary


@as_svg
def goodput(compared: Sequence[Summary]) -> Figure:
    """Accepted, refused and failed posts against offered ones; a ring: the first step again."""
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    above, below = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    stepped = [it for it in compared if it.median(lambda r: r.extra.get("multiple")) is not None]
    names = dict.fromkeys(summary.variant.name for summary in stepped)
    for name, colour in zip(names, cycle(SERIES), strict=False):
        steps = [summary for summary in stepped if summary.variant.name == name]
        offered = [_figure(it, "arrived_rps") for it in steps]
        accepted = [_figure(it, "goodput_rps") for it in steps]
        refused = [_figure(it, "refused_rps") for it in steps]
        failed = [_figure(it, "failed_rps") for it in steps]
        rising = 1 + offered.index(max(offered))  # what follows is the first step again
        above.plot(offered[:rising], accepted[:rising], "-o", color=colour, markersize=4)
        below.plot(offered[:rising], refused[:rising], "-o", color=colour, markersize=4, label=name)
        below.plot(offered[:rising], failed[:rising], ":o", color=colour, markersize=4)
        again = offered[rising:], accepted[rising:]
        above.plot(*again, "o", markerfacecolor="none", markersize=8, color=colour)
        above.plot([0, offered[0], max(offered)], [0, *2 * offered[:1]], color=INK, linewidth=0.6)
    for axes, what in ((above, "accepted"), (below, "not accepted")):
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.12g}")
        axes.set_ylabel(f"posts/s {what}")
    below.set_xlim(left=0)
    below.xaxis.set_major_formatter("{x:,.12g}")
    below.set_xlabel("posts/s offered")
    if names:
        figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _figure(summary: Summary, name: str) -> float:
    return summary.median(lambda result: result.extra.get(name)) or 0.0
