"""The pictures of a report: figures of results in, SVG out, for light and dark pages alike."""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from io import StringIO
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("svg")

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from lab.reporting.formats import number
from lab.results.result import Figure as Value
from lab.results.result import Result
from lab.results.summary import Summary


class Mark(NamedTuple):
    """A published figure, and the share of requests that had succeeded, where that is known."""

    what: str
    value: float
    success: float | None


Drawing = Callable[..., Figure]
Points = Sequence[tuple[float, float]]

TIP = "tip: "
"""Prefix of a gid whose rest a page shows on hover."""
CURVES = 8
"""Curves in colour; more are drawn in grey."""
INK = "#010203"
"""Placeholder colour; replaced by the page's text colour."""
GOOD, BAD, PUBLISHED = "#2f7ed8", "#d9480f", "#8a63d2"
GREY = "#7d8590"
ROLE_COLOURS = {
    "web": "#2f7ed8",
    "workers": "#12a594",
    "database": "#e5a50a",
    "redis": "#d9480f",
    "broker": "#8a63d2",
    "proxy": "#57ab5a",
    "locust": "#8b949e",
    "lab": "#c9d1d9",
}
SERIES = (
    *("#2f7ed8", "#d9480f", "#12a594", "#e5a50a", "#8a63d2", "#57ab5a", "#c2528b"),
    *("#a0713d", "#94d82d", "#e64980", "#8b949e", "#15aabf", "#5f3dc4"),
)
"""Colours of curves, in the order of the legend."""
LATE_MS = 1000
"""A longer lag is written beside the rate, which a backlog doesn't slow."""
WIDTH = 5.4
"""Inches; narrow, so that text is readable on a phone."""
ROW = 0.27
REM_PER_INCH = 7
"""Least width of a drawing on a page, below which its text would be too small; it scrolls."""
LETTER = 0.065
"""Inches; room for each letter of a name beyond ROOM."""
ROOM = 34
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "feed",  # the same picture is the same file
    "font.size": 8,
    "font.family": "sans-serif",
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
}


def as_svg(draw: Drawing) -> Callable[..., str]:
    """Make a function that returns a figure return an SVG element, with the page's own ink."""

    @wraps(draw)
    def drawn(*args: object) -> str:
        out = StringIO()
        with mpl.rc_context(STYLE):
            figure = draw(*args)
            figure.savefig(out, format="svg", metadata={"Date": None})
        svg = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
        svg = re.sub(rf'<g id="{TIP}(.*?)">', r"<g><title>\1</title>", svg)
        svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # several drawings share a page
        svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
        svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
        least = figure.get_figwidth() * REM_PER_INCH
        return svg.replace("<svg ", f'<svg style="min-width: {least:.0f}rem" ', 1)

    return drawn


def standing_alone(svg: str) -> str:
    """Return a drawing for a file of its own, with an ink that shows on white and on black."""
    return svg.replace("<svg ", f'<svg color="{GREY}" font-family="sans-serif" ', 1)


@as_svg
def bars(
    compared: Sequence[Summary],
    value: Value,
    axis: str,
    published: Sequence[Mark],
    offered: float | None,
) -> Figure:
    """A figure by variant on a log scale, published ones as marks."""
    rows = len(compared) + len(published)
    names = [summary.name for summary in compared] + [
        f"published: {mark.what}" for mark in published
    ]
    figure, axes = _rows(names)
    values = [summary.median(value) or 0.0 for summary in compared] + [
        mark.value for mark in published
    ]
    least = min((one for one in values if one), default=1.0) / 2
    most = max([*values, offered or 0.0, least])
    for at, summary in enumerate(compared):
        _bar(axes, at, summary, value, least)
    for at, mark in enumerate(published, start=len(compared)):
        axes.plot(mark.value, at, "D", color=PUBLISHED, markersize=5)
        _label(axes, mark.value, at, _with_success(mark.value, mark.success))
    if offered is not None:
        axes.axvline(offered, color=INK, linewidth=0.8, linestyle=":")
        axes.text(offered, -0.75, "offered ", ha="right", va="center", fontsize=7)
    axes.set_yticks(range(rows), names)
    axes.set_xscale("log")
    axes.set_xlim(least, most * 40)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.set_xlabel(axis)
    return figure


def _bar(axes: Axes, at: int, summary: Summary, value: Value, least: float) -> None:
    middle = summary.median(value)
    if not middle:
        _label(axes, least, at, summary.nothing if summary.finished else "did not finish")
        return
    low, high = summary.spread(value)
    crossed = None if summary.is_clean else "xxxx"
    (bar,) = axes.barh(
        at, middle, height=0.66, left=0, color=GOOD if summary.is_clean else "none",
        edgecolor=GOOD if summary.is_clean else BAD, hatch=crossed, linewidth=0.8,
    )  # fmt: skip
    bar.set_gid(f"{TIP}{summary.name}: {number(middle)} ({number(low)} … {number(high)})")
    axes.plot([low, high], [at, at], color=INK, linewidth=1.2)
    _label(
        axes, high, at, _with_success(middle, summary.median(lambda r: r.success)) + _but(summary)
    )


def _but(summary: Summary) -> str:
    """Return what a rate alone hides: an audit or a long lag."""
    if not summary.is_clean:
        return ", not clean" + (" (as expected)" if summary.as_expected else "")
    if not summary.figures.can_be_compared:
        return f", {summary.figures}"
    lag_ms = summary.median(lambda r: r.lag_ms.get("p99")) or 0.0
    return f", lag {number(lag_ms / 1000)} s" if lag_ms > LATE_MS else ""


def _with_success(value: float, success: float | None) -> str:
    return number(value) if success is None else f"{number(value)} ({success:.0%})"


@as_svg
def changes(
    pairs: Sequence[tuple[Summary, Summary]], value: Value, axis: str, said: Sequence[str]
) -> Figure:
    """A figure of two runs by variant, with a remark on each pair."""
    names = [before.name for before, _ in pairs]
    figure, axes = _rows(names, extra=0.1)
    for at, pair in enumerate(pairs):
        for place, colour, when, one in zip(
            (at - 0.15, at + 0.15), (GREY, GOOD), ("first", "second"), pair, strict=True
        ):
            low, high = one.spread(value)
            middle = one.median(value)
            if not middle:
                continue
            axes.plot([low, high], [place, place], color=INK, linewidth=1.2)
            (point,) = axes.plot(middle, place, "o", color=colour, markersize=5)
            point.set_gid(
                f"{TIP}{one.name}, {when}: {number(middle)} ({number(low)} … {number(high)})"
            )
        _label(axes, max(one.spread(value)[1] for one in pair), at, said[at])
    axes.set_yticks(range(len(pairs)), names)
    axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.xaxis.set_major_locator(LogLocator(numticks=6, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel(f"{axis} (log)")
    return figure


@as_svg
def latency(compared: Sequence[Summary]) -> Figure:
    """The share of requests that were answered within a time, from every one's own time."""
    return _curves(
        compared,
        lambda r: [(ms, share / 100) for share, ms in enumerate(r.latency_quantiles_ms)],
        x="ms until the answer (log)",
        y="share of requests",
        log=True,
    )


@as_svg
def by_second(compared: Sequence[Summary]) -> Figure:
    """Good answers, and their p99, in each second of the window."""
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    _draw(above, compared, lambda r: [(second, rate) for second, rate, _ in r.by_second])
    _draw(below, compared, lambda r: [(second, p99) for second, _, p99 in r.by_second if p99])
    above.set_ylabel("good answers in a second")
    above.set_ylim(bottom=0)
    below.set_ylabel("p99 of a second, ms (log)")
    below.set_yscale("log")
    below.yaxis.set_major_formatter("{x:,.12g}")
    below.set_xlabel("seconds since the measured window began")
    if above.lines:
        named = above.get_legend_handles_labels()
        figure.legend(*named, loc="outside lower center", ncols=2, fontsize=7)
    return figure


@as_svg
def backlog(compared: Sequence[Summary]) -> Figure:
    """Posts without a receipt over time; the load ends where a curve begins to fall for good."""
    return _curves(
        compared,
        lambda r: r.backlog,
        x="seconds since the measured window began",
        y="posts without a receipt",
        log=False,
    )


def _curves(
    compared: Sequence[Summary],
    points: Callable[[Result], Points],
    *,
    x: str,
    y: str,
    log: bool,
) -> Figure:
    figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, compared, points)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if axes.lines:
        figure.legend(loc="outside lower center", ncols=2, fontsize=7)
    return figure


def _draw(axes: Axes, compared: Sequence[Summary], points: Callable[[Result], Points]) -> None:
    """Draw a curve for each run that has points."""
    for at, summary in enumerate(compared):
        for run, result in enumerate(summary.results):
            drawn = points(result)
            if drawn:
                name = summary.name if run == 0 and at < CURVES else None
                xs, ys = zip(*drawn, strict=True)
                (curve,) = axes.plot(xs, ys, **pen(at), label=name)
                ends = (
                    f"{number(min(ys))} … {number(max(ys))} over {number(xs[0])} … {number(xs[-1])}"
                )
                curve.set_gid(f"{TIP}{summary.name}: {ends}")


def pen(at: int) -> dict[str, Any]:
    """Return how a curve is drawn: the first ones in colour, the rest thin, grey and behind."""
    if at < CURVES:
        return {"color": SERIES[at], "linewidth": 1.2}
    return {"color": GREY, "linewidth": 0.6, "alpha": 0.5, "zorder": 1}


@as_svg
def cpu(compared: Sequence[Summary]) -> Figure:
    """Cores busy by group of processes, of the run in the middle; lines from least to most."""
    figure, axes = _rows([summary.name for summary in compared], extra=0.5)
    for at, summary in enumerate(compared):
        left, middle = 0.0, sorted(summary.results, key=_cores)[(len(summary.results) - 1) // 2]
        for role, colour in ROLE_COLOURS.items():
            used = middle.cores(role) or 0.0
            (bar,) = axes.barh(
                at, used, left=left, height=0.66, color=colour, label=role if not at else None
            )
            bar.set_gid(f"{TIP}{summary.name}, {role}: {used:.2f} cores")
            left += used
        axes.plot(summary.spread(_cores), [at, at], color=INK, linewidth=1.2)
    axes.set_yticks(range(len(compared)), [summary.name for summary in compared])
    axes.set_xlabel("cores busy")
    figure.legend(loc="outside upper center", ncols=len(ROLE_COLOURS) // 2, fontsize=7)
    return figure


def _cores(result: Result) -> float:
    return sum(result.cores(role) or 0.0 for role in ROLE_COLOURS)


@as_svg
def cost(compared: Sequence[Summary]) -> Figure:
    """CPU seconds of the whole service for a million deliveries."""
    shown = [summary for summary in compared if summary.median(_cost)]
    figure, axes = _rows([summary.name for summary in shown] or [""])
    for at, summary in enumerate(shown):
        seconds, (low, high) = summary.median(_cost) or 0.0, summary.spread(_cost)
        axes.barh(at, seconds, height=0.66, color=GOOD)
        axes.plot([low, high], [at, at], color=INK, linewidth=1.2)
        _label(axes, high, at, number(seconds))
    axes.set_yticks(range(len(shown)), [summary.name for summary in shown])
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.12g}")
    axes.margins(x=0.15)
    axes.set_xlabel("CPU seconds for a million deliveries, requests included (log)")
    return figure


def _cost(result: Result) -> float | None:
    return result.cpu_s_per_million_deliveries


def _rows(names: Sequence[str], extra: float = 0.0) -> tuple[Figure, Axes]:
    """Return a figure with a row for each name, the first on top."""
    count = len(names)
    width = WIDTH + LETTER * max(0, max(map(len, names)) - ROOM)
    figure = Figure(figsize=(width, 0.75 + extra + ROW * count), layout="constrained")
    axes = figure.add_subplot()
    axes.set_ylim(count - 0.4, -1.1 if not extra else -0.6)
    axes.tick_params(axis="y", length=0)
    return figure, axes


def _label(axes: Axes, x: float, y: float, text: str) -> None:
    axes.annotate(
        text, (x, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7
    )  # fmt: skip
