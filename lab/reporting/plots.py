"""Pictures: figures in, SVG out, for light and dark pages, wide windows and phones."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from textwrap import wrap
from types import MappingProxyType
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("svg")

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from lab.reporting.formats import number
from lab.results.result import Figure as Value
from lab.results.result import Result
from lab.results.summary import Summary

WIDE, NARROW = 11.0, 3.6
"""Inches: of a drawing as wide as a page, and of one for a phone."""
TIP = "tip: "
"""Prefix of a gid whose rest a page shows on hover."""
INK = "#010203"
"""Placeholder colour; replaced by the page's text colour."""
GREY, PUBLISHED = "#7d8590", "#8a63d2"
SERIES = (
    *("#2f7ed8", "#e8730c", "#12a594", "#e5a50a", "#c2528b"),
    *("#57ab5a", "#a0713d", "#15aabf", "#94a813", "#5f3dc4"),
)
"""Colours of variants, in the order of the table; further ones are grey."""
ROLE_COLOURS = {
    "web": "#5b7083",
    "workers": "#8fa9b8",
    "database": "#a58f6f",
    "redis": "#b5766a",
    "broker": "#93809e",
    "proxy": "#7d9a83",
    "locust": "#b4bac0",
    "lab": "#d0d4d8",
}
"""Muted, so that no role has the colour of a variant."""
LETTER = 0.075
"""Inches of a letter."""
LOG_FROM = 30
"""Largest ÷ smallest value from which on an axis is logarithmic."""
STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "feed",  # the same picture is the same file
    "font.size": 8,
    "legend.fontsize": 8,
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
Points = Sequence[tuple[float, float]]


class Drawing(NamedTuple):
    """The same picture twice, as SVG elements in the page's own ink."""

    wide: str
    narrow: str

    @property
    def alone(self) -> str:
        """For a file of its own, with an ink that shows on white and on black."""
        return self.wide.replace("<svg ", f'<svg color="{GREY}" font-family="sans-serif" ', 1)


class Bar(NamedTuple):
    name: str
    parts: Sequence[tuple[str, float, str]]
    """Tip, length and colour, from left to right."""
    label: str
    ends: tuple[float, float] = (0.0, 0.0)
    """The interval of the median of several runs."""
    is_crossed: bool = False

    @property
    def length(self) -> float:
        return max(self.ends[1], sum(length for _, length, _ in self.parts))


class Line(NamedTuple):
    name: str
    """Empty: it has no place in the legend."""
    points: Points
    colour: str
    tip: str = ""
    form: str = "-"


class Panel(NamedTuple):
    """Lines on axes. An axis is logarithmic, and says so, if its values differ much."""

    lines: Sequence[Line]
    x: str
    y: str
    from_0: str = "y"
    """The axes ("x", "y" or both) that are linear and begin at 0."""
    under: Callable[[Axes], object] = lambda axes: None
    """Draws what is there before the lines."""
    over: Callable[[Axes], object] = lambda axes: None
    """Draws what else there is when the axes are known."""


def _drawing(draw: Callable[[float], Figure]) -> Drawing:
    """Return what a function of a width in inches draws."""
    with mpl.rc_context(STYLE):
        return Drawing(_svg(draw(WIDE), "w"), _svg(draw(NARROW), "n"))


def _svg(figure: Figure, prefix: str) -> str:
    """Return the elements; ``prefix`` of ids, since what a hidden drawing defines isn't drawn."""
    out = StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    svg = re.sub(r"<metadata>.*?</metadata>", "", out.getvalue(), flags=re.DOTALL)
    svg = re.sub(rf'<g id="{TIP}(.*?)">', r"<g><title>\1</title>", svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # several drawings share a page
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\1{prefix}", svg)
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    return re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return the colour of each name, the same in all pictures of a page."""
    known = list(dict.fromkeys(names))
    return {name: SERIES[at] if at < len(SERIES) else GREY for at, name in enumerate(known)}


def colours_of(compared: Sequence[Summary]) -> dict[str, str]:
    return colours(summary.variant.name for summary in compared)


def bars(
    rows: Sequence[Bar],
    offered: float | None = None,
    key: Mapping[str, str] = MappingProxyType({}),
) -> Drawing:
    """Draw bars on a linear axis that begins at 0, each with its label at its end.

    Names are beside the bars, on a phone above them. ``key``: colours by what they mean.
    """

    def draw(width: float) -> Figure:
        figure = _bars(width, rows, offered)
        patches = [Patch(color=colour, label=name) for name, colour in key.items()]
        if patches:
            columns = 8 if width == WIDE else 4
            figure.legend(handles=patches, loc="outside upper left", ncols=columns)
        return figure

    return _drawing(draw)


def _bars(width: float, rows: Sequence[Bar], offered: float | None) -> Figure:
    is_narrow = width < WIDE
    names = ["\n".join(wrap(row.name, 46)) if is_narrow else row.name for row in rows]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    each = 0.36 + 0.13 * lines if is_narrow else 0.3
    figure = Figure(figsize=(width, 0.3 + each * max(1, len(rows))), layout="constrained")
    axes = figure.add_subplot()
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(not is_narrow)
    axes.tick_params(length=0, labelbottom=False)
    axes_in = width - (0.2 if is_narrow else 0.2 + LETTER * max(map(len, names), default=0))
    per_inch = [row.length / max(1.0, axes_in - 0.15 - LETTER * len(row.label)) for row in rows]
    axes.set_xlim(0, axes_in * max([*per_inch, (offered or 0.0) / axes_in, 1e-9]))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [""] * len(rows) if is_narrow else names)
    beside: Any = {"textcoords": "offset points", "annotation_clip": False}
    for at, row in enumerate(rows):
        low = at + (0.22 if is_narrow else 0.0)
        _bar(axes, low, row, 0.36 if is_narrow else 0.64)
        if is_narrow:
            axes.annotate(names[at], (0, low - 0.2), xytext=(0, 2), va="bottom", **beside)
    if offered:
        axes.plot(offered, -0.5, "v", color=INK, markersize=4, clip_on=False)
        where: Any = {"xytext": (-5, 0), "ha": "right", "va": "center", "fontsize": 7}
        axes.annotate(f"offered {number(offered)}", (offered, -0.5), **where, **beside)
    return figure


def _bar(axes: Axes, at: float, row: Bar, height: float) -> None:
    left = 0.0
    for tip, length, colour in row.parts:
        face = "none" if row.is_crossed else colour
        hatch = "xxxx" if row.is_crossed else None
        (bar,) = axes.barh(
            at, length, height, left, color=face, edgecolor=colour, hatch=hatch, linewidth=0.6
        )
        bar.set_gid(TIP + tip)
        left += length
    low, high = row.ends
    if high > low:
        axes.plot([low, high], [at, at], color=INK, linewidth=1.2)
    axes.annotate(
        row.label, (max(left, high), at), xytext=(4, 0), textcoords="offset points", va="center"
    )


def matrix(bars: Mapping[tuple[str, str], Bar]) -> Drawing:
    """Draw labels of bars in cells, by row and column; on a phone, cells alone.

    What is crossed out has no label.
    """
    rows, columns = ([*dict.fromkeys(key[at] for key in bars)] for at in (0, 1))

    def draw(width: float) -> Figure:
        height = 0.2 * len(rows) + LETTER * max(map(len, columns)) + 0.2
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.set_xticks(range(len(columns)), columns, rotation=90)
        axes.set_yticks(range(len(rows)), rows)
        axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
        for (row, column), bar in bars.items():
            _cell(axes, columns.index(column), rows.index(row), bar, is_labelled=width == WIDE)
        return figure

    return _drawing(draw)


def _cell(axes: Axes, x: int, y: int, bar: Bar, *, is_labelled: bool) -> None:
    tip, _, colour = bar.parts[0] if bar.parts else (bar.name, 0.0, GREY)
    face: Any = (colour, 0.3) if bar.parts and not bar.is_crossed else "none"
    cell = Rectangle((x - 0.46, y - 0.42), 0.92, 0.84, facecolor=face, edgecolor=colour)
    cell.set(hatch="xxxx" if bar.is_crossed else None, linewidth=0.6, gid=TIP + tip)
    axes.add_patch(cell)
    if is_labelled and not bar.is_crossed:
        axes.annotate(bar.label, (x, y), ha="center", va="center")


def curves(*panels: Panel) -> Drawing:
    """Draw panels below each other, and below them the names of the first one's lines."""

    def draw(width: float) -> Figure:
        height = (3.4 if width == WIDE else 2.8) + (len(panels) - 1) * 2.0
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for own, panel in zip(axes, panels, strict=True):
            panel.under(own)
            _panel(own, panel)
            panel.over(own)
        _legend(figure, axes[0])
        return figure

    return _drawing(draw)


def _panel(axes: Axes, panel: Panel) -> None:
    drawn = [line for line in panel.lines if line.points]
    for line in drawn:
        (curve,) = axes.plot(
            *zip(*line.points, strict=True), line.form, color=line.colour, linewidth=1.2,
            markersize=3.5, label=line.name or None, zorder=1 if line.colour == GREY else 2,
        )  # fmt: skip
        curve.set_gid(TIP + (line.tip or line.name))
    for at, (name, label) in enumerate((("x", panel.x), ("y", panel.y))):
        values = [point[at] for line in drawn for point in line.points]
        axis = axes.xaxis if name == "x" else axes.yaxis
        is_log = name not in panel.from_0 and _spans_decades(values)
        axis.set_label_text(f"{label} (log)" if is_log else label)
        if is_log:
            axes.set(**{f"{name}scale": "log"})
            axis.set_major_locator(LogLocator(numticks=8))
            axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:,.12g}")
        if name in panel.from_0:
            axes.set(**{f"{name}lim": (min([0.0, *values]), None)})


def _spans_decades(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > LOG_FROM


def _legend(figure: Figure, axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    found = dict(zip(names, handles, strict=True))
    if found:
        room = figure.get_figwidth() / (LETTER * max(map(len, found)) + 0.6)
        columns = max(1, min(len(found), int(room)))
        figure.set_figheight(figure.get_figheight() + 0.17 * -(-len(found) // columns))
        figure.legend(found.values(), found, loc="outside lower center", ncols=columns)


def latency(compared: Sequence[Summary]) -> Drawing:
    """The share of requests that were answered within a time, from every one's own time."""
    lines = _runs(compared, lambda r: [(ms, at) for at, ms in enumerate(r.latency_quantiles_ms)])
    return curves(Panel(lines, "ms until the answer", "% of the requests"))


def by_second(compared: Sequence[Summary]) -> Drawing:
    """Good answers, and their p99, in each second of the window."""
    rates = _runs(compared, lambda r: [second[:2] for second in r.by_second])
    p99s = _runs(compared, lambda r: [(at, p99) for at, _, p99 in r.by_second if p99])
    return curves(
        Panel(rates, "", "good answers", from_0="xy"),
        Panel(p99s, "second of the measured window", "p99, ms", from_0="x"),
    )


def backlog(compared: Sequence[Summary]) -> Drawing:
    """Posts without a receipt over time; the load ends where a curve begins to fall for good."""
    since, lines = "seconds since the measured window began", _runs(compared, lambda r: r.backlog)
    return curves(Panel(lines, since, "posts without a receipt", from_0="xy"))


def _runs(compared: Sequence[Summary], points: Callable[[Result], Points]) -> list[Line]:
    """Return a line for each run; the first of a variant is named, the grey ones are not."""
    known, named, found = colours_of(compared), set[str](), []
    for summary in compared:
        for result in summary.results:
            drawn, colour = points(result), known[summary.variant.name]
            if drawn:
                ys = [y for _, y in drawn]
                tip = f"{summary.name}: {number(min(ys))} … {number(max(ys))}"
                name = "" if colour == GREY or summary.name in named else summary.name
                found.append(Line(name, drawn, colour, tip))
                named.add(summary.name)
    return found


def cpu(compared: Sequence[Summary]) -> Drawing:
    """Cores busy by group of processes, of the run in the middle; lines from least to most."""
    runs = [result for summary in compared for result in summary.results]
    used = {role for run in runs for role, seconds in run.cpu_s.items() if seconds}
    key = {role: colour for role, colour in ROLE_COLOURS.items() if role in used}
    return bars([_cpu_bar(summary) for summary in compared], key=key)


def _cpu_bar(summary: Summary) -> Bar:
    middle = sorted(summary.results, key=_cores)[(len(summary.results) - 1) // 2]
    used = {role: middle.cores(role) or 0.0 for role in ROLE_COLOURS}
    parts = [
        (f"{summary.name}, {role}: {cores:.2f} cores", cores, ROLE_COLOURS[role])
        for role, cores in used.items()
        if cores
    ]
    return Bar(summary.name, parts, f"{_cores(middle):.2f} cores", summary.interval(_cores))


def _cores(result: Result) -> float:
    return sum(result.cores(role) or 0.0 for role in ROLE_COLOURS)


def medians(compared: Sequence[Summary], figure: Value) -> Drawing:
    """The median of a figure, of the variants that have one."""
    known = colours_of(compared)
    shown = [summary for summary in compared if summary.median(figure)]
    return bars([bar_of(one, figure, known[one.variant.name]) for one in shown])


def bar_of(summary: Summary, figure: Value, colour: str, label: str = "", name: str = "") -> Bar:
    """Return the bar of a median, without a part where there is no figure."""
    middle, (low, high) = summary.median(figure), summary.interval(figure)
    tip = f"{summary.name}: {number(middle)} ({number(low)} … {number(high)})"
    parts = [(tip, middle, colour)] if middle else []
    return Bar(name or summary.name, parts, label or number(middle), (low, high))
