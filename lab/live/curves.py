"""The curves of a side: options of ECharts, which NiceGUI brings along."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from math import floor, log10
from typing import Any, NamedTuple

from lab.live.figures import KEPT, History, Sample


class Curve(NamedTuple):
    name: str
    colour: str
    """Legible on white and on black."""
    of: Callable[[Sample], float | None]


PLOTS = {
    "posts/s": (
        Curve("offered", "#808790", lambda sample: sample.rates["offered"]),
        Curve("accepted", "#1f9a5a", lambda sample: sample.rates["accepted"]),
        Curve("refused", "#c9801a", lambda sample: sample.rates["refused"]),
        Curve("failed", "#df5b3e", lambda sample: sample.rates["failed"]),
    ),
    "lag, ms": (
        Curve("p50", "#3d85d9", lambda sample: sample.lag_ms["p50"]),
        Curve("p99", "#a866cf", lambda sample: sample.lag_ms["p99"]),
    ),
    "backlog, posts": (Curve("backlog", "#c9801a", lambda sample: sample.backlog),),
}
"""Title and curves of each plot."""
GRID = {"lineStyle": {"color": "#8884"}}
ROOM, GAP = 100, 45
"""Height of a plot and of what is above it, in pixels."""
HEIGHT = GAP // 2 + len(PLOTS) * (ROOM + GAP)


def options() -> dict[str, Any]:
    """Return the plots without their data, one below the other on one axis of time."""
    tops = [GAP + number * (ROOM + GAP) for number in range(len(PLOTS))]
    axis = {
        "type": "value",
        "min": -KEPT,
        "max": 0,
        "axisLabel": {"formatter": "{value} s"},
        "splitLine": GRID,
    }
    return {
        "animation": False,
        "aria": {"enabled": False},
        "grid": [{"top": top, "height": ROOM, "left": 55, "right": 15} for top in tops],
        "xAxis": [{**axis, "gridIndex": number} for number in range(len(PLOTS))],
        "yAxis": [
            {"type": "value", "min": 0, "gridIndex": number, "splitNumber": 2, "splitLine": GRID}
            for number in range(len(PLOTS))
        ],
        "title": [
            {"text": title, "top": top - 30, "left": 0, "textStyle": {"fontSize": 13}}
            for title, top in zip(PLOTS, tops, strict=True)
        ],
        "legend": [
            {
                "data": [curve.name for curve in plot],
                "top": top - 30,
                "right": 0,
                "icon": "roundRect",
                "itemWidth": 12,
                "itemGap": 6,
                "selectedMode": False,
            }
            for plot, top in zip(PLOTS.values(), tops, strict=True)
        ],
        "series": data(History()),
    }


def tops(histories: Iterable[History]) -> list[float]:
    """Return the top of each plot, so that these histories can be compared; a round number."""
    samples = [sample for history in histories for sample in list(history.samples)]
    return [
        _above(max((curve.of(sample) or 0 for sample in samples for curve in plot), default=0))
        for plot in PLOTS.values()
    ]


def _above(value: float) -> float:
    power = 10.0 ** floor(log10(max(value, 1)))
    return next(factor * power for factor in (1, 2, 5, 10) if value <= factor * power)


def data(history: History) -> list[dict[str, Any]]:
    """Return the curves over the seconds before the latest sample, and where faults began.

    Shaded: the service did not say.
    """
    samples, now = list(history.samples), history.latest.at if history.latest else 0.0
    faults = [{"xAxis": at - now} for at in history.faults_at if at > now - KEPT]
    silent = [
        [{"xAxis": before.at - now}, {"xAxis": after.at - now}]
        for before, after in pairwise(samples)
        if after.backlog is None
    ]
    return [
        {
            "name": curve.name,
            "type": "line",
            "xAxisIndex": number,
            "yAxisIndex": number,
            "showSymbol": False,
            "color": curve.colour,
            "data": [[round(sample.at - now, 1), curve.of(sample)] for sample in samples],
            "markLine": {"symbol": "none", "label": {"show": False}, "data": faults},
            "markArea": {"itemStyle": {"color": "#8883"}, "data": silent if number else []},
        }
        for number, plot in enumerate(PLOTS.values())
        for curve in plot
    ]
