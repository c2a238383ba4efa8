"""How the rate of each store changes with batch, people and friends."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from lab.bench.grid import Grid
from lab.bench.tables import name_of
from lab.reporting.plots import TIP, WIDTH, Points, as_svg, pen, standing_alone

USUAL = {"people": 1_000, "friends": 500, "batch": 100}
WIDER = {"people": 10_000, "friends": 500, "batch": 25}
"""Where every number of friends is possible, at a cost that slow stores can pay."""
AXES = {"batch": "posts per batch", "people": "people", "friends": "friends of each author"}


def pictures(rows: list[dict[str, Any]], grid: Grid) -> Iterator[tuple[str, str]]:
    """Yield the name and the SVG of each picture that has something to show."""
    for axis, label in AXES.items():
        fixed = _fixed(axis, grid)
        found = curves(rows, axis, fixed)
        if found:
            where = ", ".join(f"{number:,} {AXES[name]}" for name, number in fixed.items())
            yield axis, standing_alone(growth(found, label, where))


def curves(rows: list[dict[str, Any]], axis: str, fixed: Mapping[str, int]) -> dict[str, Points]:
    """Return the deliveries/s of each store along an axis, the fastest store first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        here = row["kind"] == "store" and all(row[name] == it for name, it in fixed.items())
        if here and row["deliveries_per_s"]:
            found.setdefault(name_of(row), []).append((row[axis], row["deliveries_per_s"]))
    return dict(sorted(found.items(), key=lambda curve: -curve[1][-1][1]))


@as_svg
def growth(found: Mapping[str, Points], label: str, where: str) -> Figure:
    """Deliveries/s over one of the three, the two others fixed; both axes logarithmic."""
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for at, (name, points) in enumerate(found.items()):
        xs, ys = zip(*points, strict=True)
        (curve,) = axes.plot(xs, ys, "o-", **pen(at), label=name, markersize=3.5)
        curve.set_gid(f"{TIP}{name}: " + ", ".join(f"{x:,.0f} → {y:,.0f}/s" for x, y in points))
    ticks = sorted({x for points in found.values() for x, _ in points})
    axes.set(xscale="log", yscale="log", xlabel=f"{label} (log)", ylabel="deliveries/s (log)")
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    rates = [rate for points in found.values() for _, rate in points]
    axes.set_ylim(10 ** math.floor(math.log10(min(rates))), 10 ** math.ceil(math.log10(max(rates))))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(where, fontsize=8)
    axes.grid(axis="y", linewidth=0.3, alpha=0.5)
    figure.legend(loc="outside lower center", ncols=3, fontsize=7)
    return figure


def _fixed(axis: str, grid: Grid) -> dict[str, int]:
    """Return where a curve is cut out of the grid: at what is usual, or at what there is."""
    wanted = WIDER if axis == "friends" else USUAL
    return {
        name: number if number in getattr(grid, name) else getattr(grid, name)[-1]
        for name, number in wanted.items()
        if name != axis
    }
