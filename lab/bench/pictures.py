"""How the rate of each store changes with batch, people and friends."""

from collections.abc import Iterator, Mapping
from typing import Any

from matplotlib.figure import Figure

from lab.bench.tables import name_of
from lab.bench.targets import Grid
from lab.reporting.page import Picture
from lab.reporting.plots import Line, Points, as_svg, colours, legend, panel, panels

USUAL = {"people": 1_000, "friends": 500, "batch": 100}
WIDER = {"people": 10_000, "friends": 500, "batch": 25}
"""Where every number of friends is possible, at a cost that slow stores can pay."""
AXES = {"batch": "posts per batch", "people": "people", "friends": "friends of each author"}


def pictures(rows: list[dict[str, Any]], grid: Grid) -> Iterator[Picture]:
    """Yield a picture for each axis of the grid along which there is something to show."""
    named = colours(name for axis in AXES for name in curves(rows, axis, _fixed(axis, grid)))
    for axis, label in AXES.items():
        fixed = _fixed(axis, grid)
        found = curves(rows, axis, fixed)
        if found:
            where = " and ".join(f"{number:,} {AXES[name]}" for name, number in fixed.items())
            text = f"Deliveries per second of each store, with {where}."
            yield Picture(f"Over {label}", text, growth(found, named, label), f"{axis}.svg")


def curves(rows: list[dict[str, Any]], axis: str, fixed: Mapping[str, int]) -> dict[str, Points]:
    """Return the deliveries/s of each store along an axis, the fastest store first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        here = row["kind"] == "store" and all(row[name] == it for name, it in fixed.items())
        if here and row["deliveries_per_s"]:
            found.setdefault(name_of(row), []).append((row[axis], row["deliveries_per_s"]))
    return dict(sorted(found.items(), key=lambda curve: -curve[1][-1][1]))


@as_svg
def growth(
    width: float, found: Mapping[str, Points], named: Mapping[str, str], label: str
) -> Figure:
    """Deliveries/s over one of the three, the two others fixed."""
    figure, (axes,) = panels(width)
    lines = [
        Line(name, points, named[name], _tip(name, points), "o-") for name, points in found.items()
    ]
    panel(axes, lines, label, "deliveries/s", from_0="")
    axes.set_xticks(sorted({x for points in found.values() for x, _ in points}))
    return legend(figure)


def _tip(name: str, points: Points) -> str:
    return f"{name}: " + ", ".join(f"{x:,.0f} → {y:,.0f}/s" for x, y in points)


def _fixed(axis: str, grid: Grid) -> dict[str, int]:
    """Return where a curve is cut out of the grid: at what is usual, or at what there is."""
    wanted = WIDER if axis == "friends" else USUAL
    return {
        name: number if number in getattr(grid, name) else getattr(grid, name)[-1]
        for name, number in wanted.items()
        if name != axis
    }
