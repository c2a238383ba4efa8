"""The picture of a run at several times what holds."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from lab.reporting.plots import INK, Line, as_svg, colours_of, legend, panel, panels
from lab.results.summary import Summary


@as_svg
def goodput(width: float, compared: Sequence[Summary]) -> Figure:
    """Accepted, refused and failed posts against offered ones; a ring: the first step again."""
    figure, (above, below) = panels(width, 2)
    accepted, not_accepted = [], []
    for name, colour in colours_of(compared).items():
        steps = [summary for summary in compared if summary.variant.name == name]
        rises = _points(steps, "goodput_rps")
        if not rises:
            continue
        rising = 1 + rises.index(max(rises))  # what follows is the first step again
        first, most = rises[0][0], rises[rising - 1][0]
        accepted += [
            Line(name, rises[:rising], colour, form="-o"),
            Line("", rises[rising:], colour, f"{name}, again", "D"),
            Line("", [(0, 0), (first, first), (most, first)], INK, "ideal", ":"),
        ]
        for figure_name, form in (("refused_rps", "-o"), ("failed_rps", ":o")):
            points = _points(steps, figure_name)[:rising]
            not_accepted.append(Line("", points, colour, f"{name}, {figure_name}", form))
    panel(above, accepted, "", "posts/s accepted", from_0="xy")
    panel(below, not_accepted, "posts/s offered", "posts/s not accepted", from_0="xy")
    return legend(figure, above)


def _points(steps: Sequence[Summary], name: str) -> list[tuple[float, float]]:
    """Return one figure of the steps by what was offered; none without steps."""
    found = [(_figure(step, "arrived_rps"), _figure(step, name)) for step in steps]
    return [(offered, value or 0.0) for offered, value in found if offered is not None]


def _figure(summary: Summary, name: str) -> float | None:
    return summary.median(lambda result: result.extra.get(name))
