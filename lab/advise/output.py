"""The advice as a page, the same as Markdown, and in the terminal."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes

from lab.advise.answer import Advice, sources, tables, verdict
from lab.advise.candidates import Candidate
from lab.advise.cells import NotMeasured
from lab.advise.model import Needs, needs
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES
from lab.reporting import plots
from lab.reporting.page import Listing, Page, Picture

PAGE = "advice.html"
MOST = 3.0
"""Times your rate: the end of the axis."""
POINTS = 41
LIMITS = (
    "A model, from CPU that was measured on one machine; nothing here was run at this size.",
    "Cores are of this machine's kind.",
    "Authors post alike, whatever their number of readers.",
    "Rows of posts and friendships, replicas, replication and the network's own work are not "
    "counted.",
    "A projected figure lies outside what was measured.",
)
OVER_POSTS = (
    "Cores of {name} by role, and all cores of the best of the other kind (dashed), over the rate. "
    "Dotted: your rate."
)


def page_of(advice: Advice) -> Page:
    name = advice.best.candidate.name
    remarks = [Listing("Before you rely on it", advice.remarks)] if advice.remarks else []
    return Page(
        title="Which variant, and how much of everything",
        answer=verdict(advice),
        facts={
            "What was asked": f"{title(advice.situation)}.",
            "What to do with it": (
                "Run it on your machine at a rate that it holds, python -m lab run mixed "
                f"--variants {name}, then look below for what is full first."
            ),
        },
        parts=[
            *remarks,
            Picture("Cores over posts/s", OVER_POSTS.format(name=name), cores_over_posts(advice)),
            *tables(advice),
            Listing("Where the figures come from", sources(advice)),
            Listing("Limitations", LIMITS),
        ],
        lesson="docs/advise.md",
    )


def title(situation: Situation) -> str:
    friends = f"{situation.followers:,.4g} friends each"
    if situation.followers != situation.following:
        friends = f"{situation.followers:,.4g} followers, {situation.following:,.4g} followed each"
    people = f"{situation.people:,} people, {friends}"
    load = f"{situation.posts_per_s:,.4g} posts/s, {situation.reads_per_post:g} reads per post"
    return f"{people} ({situation.largest:,} at most), {situation.active:.0%} come: {load}"


def cores_over_posts(advice: Advice) -> plots.Drawing:
    """Cores by role of the advised variant, and all cores of pull or push beside it."""
    situation, best = advice.situation, advice.best.candidate
    rates = np.linspace(0, MOST * situation.posts_per_s, POINTS)[1:].tolist()
    curve = _curve(best, situation, rates)
    lines = []
    if other := advice.push if best.pulls else advice.pull:
        points = [
            (rate, needed.total) for rate, needed in _curve(other.candidate, situation, rates)
        ]
        lines = [plots.Line(f"all of {other.candidate.name}", points, plots.INK, form="--")]

    def fill(axes: Axes) -> None:
        below = np.zeros(len(curve))
        for role in ROLES:
            cores = np.array([needed.cores[role] for _, needed in curve])
            if cores.any():
                colour, posts_per_s = plots.ROLE_COLOURS[role], [rate for rate, _ in curve]
                axes.fill_between(posts_per_s, below, below + cores, color=colour, label=role)
                below = below + cores

    def mark(axes: Axes) -> None:
        axes.axvline(situation.posts_per_s, color=plots.INK, linewidth=0.8, linestyle=":")

    load, cores = "posts/s", "cores, 100 % busy"
    return plots.curves(plots.Panel(lines, load, cores, "xy", under=fill, over=mark))


def _curve(
    candidate: Candidate, situation: Situation, rates: Sequence[float]
) -> list[tuple[float, Needs]]:
    """Return what a candidate needs at each rate, as far as that was measured."""
    points = []
    for rate in rates:
        try:
            points.append((rate, needs(candidate, replace(situation, posts_per_s=rate))))
        except NotMeasured:
            continue
    return points
