"""The advice as a page, the same as Markdown, and in the terminal."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from lab.advise.answer import Advice, curve, sources, tables, verdict
from lab.advise.candidates import Candidate
from lab.advise.model import crossover
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES
from lab.reporting import plots
from lab.reporting.page import Listing, Page, Picture

PAGE = "advice.html"
MOST = 3.0
"""Times your rate, or your reads per post: the end of an axis."""
POINTS = 41
LIMITS = (
    "A model, from CPU that was measured on one machine; nothing here was run at this size.",
    "Cores are of this machine's kind.",
    "Authors post alike, whatever their number of friends.",
    "Rows of posts and friendships, replicas, replication and the network's own work are not "
    "counted.",
    "A projected figure lies outside what was measured.",
)
OVER_POSTS = (
    "Cores of {name} by role, and all cores of the best of the other kind (dashed), over the rate. "
    "Dotted: your rate."
)
OVER_READS = (
    "All cores of each candidate over the pages that are read per post. The point is you; the "
    "dashed line is where pull and push need the same."
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
            Picture("Push or pull", OVER_READS, cores_over_reads(advice)),
            *tables(advice),
            Listing("Where the figures come from", sources(advice)),
            Listing("Limitations", LIMITS),
        ],
        lesson="docs/advise.md",
    )


def title(situation: Situation) -> str:
    people = f"{situation.people:,} people, {situation.friends:,.4g} friends each"
    load = f"{situation.posts_per_s:,.4g} posts/s, {situation.reads_per_post:g} reads per post"
    return f"{people} ({situation.largest:,} at most), {situation.active:.0%} come: {load}"


@plots.as_svg
def cores_over_posts(width: float, advice: Advice) -> Figure:
    """Cores by role of the advised variant, and all cores of pull and push beside it."""
    figure, (axes,) = plots.panels(width)
    situation, best = advice.situation, advice.best.candidate
    rates = _axis(MOST * situation.posts_per_s)[1:]
    points_needed = curve(best, [replace(situation, posts_per_s=rate) for rate in rates])
    below, xs = np.zeros(len(points_needed)), [at.posts_per_s for at, _ in points_needed]
    for role in ROLES:
        cores = np.array([needed.cores[role] for _, needed in points_needed])
        if cores.any():
            axes.fill_between(xs, below, below + cores, color=plots.ROLE_COLOURS[role], label=role)
            below = below + cores
    other = advice.push if best.pulls else advice.pull
    lines = []
    if other:
        points = _totals(other.candidate, [replace(situation, posts_per_s=rate) for rate in rates])
        lines = [plots.Line(f"all of {other.candidate.name}", points, plots.INK, form="--")]
    plots.panel(axes, lines, "posts/s", "cores, 100 % busy", from_0="xy")
    axes.axvline(situation.posts_per_s, color=plots.INK, linewidth=0.8, linestyle=":")
    return plots.legend(figure)


@plots.as_svg
def cores_over_reads(width: float, advice: Advice) -> Figure:
    """All cores of each candidate over the pages read per post, and where pull meets push."""
    figure, (axes,) = plots.panels(width)
    situation, pull, push = advice.situation, advice.pull, advice.push
    at = crossover(pull, push, situation) if pull and push else None
    reads = _axis(MOST * max(situation.reads_per_post, at or 0.0, 1.0))
    situations = [replace(situation, reads_per_post=each) for each in reads]
    names = [needed.candidate.name for needed in advice.every]
    lines = [
        plots.Line(name, _totals(needed.candidate, situations), colour)
        for needed, (name, colour) in zip(advice.every, plots.colours(names).items(), strict=True)
    ]
    yours = [(situation.reads_per_post, advice.best.total)]
    plots.panel(
        axes, [*lines, plots.Line("you", yours, plots.INK, form="o")], "pages read per post",
        "cores, 100 % busy", from_0="xy",
    )  # fmt: skip
    if at:
        axes.axvline(
            at, color=plots.GREY, linewidth=1, linestyle="--", label=f"push from {at:.3g} reads"
        )
    return plots.legend(figure)


def _axis(most: float) -> list[float]:
    return [float(value) for value in np.linspace(0.0, most, POINTS)]


def _totals(candidate: Candidate, situations: Sequence[Situation]) -> plots.Points:
    """Return all cores by what differs between the situations, as far as that was measured."""
    by_rate = len({situation.posts_per_s for situation in situations}) > 1
    return [
        (situation.posts_per_s if by_rate else situation.reads_per_post, needed.total)
        for situation, needed in curve(candidate, situations)
    ]
