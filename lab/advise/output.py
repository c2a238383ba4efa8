"""The advice in the terminal, as Markdown, and as a page."""

from pathlib import Path

from markupsafe import Markup
from rich.console import Console

from lab.advise.answer import Advice, sheets, sources, verdict
from lab.advise.pictures import cores_over_posts, cores_over_reads
from lab.advise.situation import Situation
from lab.progress import print_whole
from lab.reporting.first_screen import lesson
from lab.reporting.page import TEMPLATES

PAGE = "advice.html"
LIMITS = (
    "A model, from CPU that was measured on one machine; nothing here was run at this size. Cores "
    "are of this machine's kind. Authors post alike, whatever their number of friends. Rows of "
    "posts and friendships, replicas, replication and the network's own work are not counted. "
    "A projected figure lies outside what was measured."
)


def title(it: Situation) -> str:
    return (
        f"{it.people:,} people, {it.friends:,.4g} friends each ({it.largest:,} at most), "
        f"{it.active:.0%} come: {it.posts_per_s:,.4g} posts/s, {it.reads_per_post:g} reads per post"
    )


def show(advice: Advice) -> None:
    Console().print(title(advice.situation), verdict(advice), *advice.remarks, sep="\n")
    for sheet in sheets(advice):
        print_whole(sheet.as_rich())
    Console().print(*sources(advice), LIMITS, sep="\n", markup=False)


def as_markdown(advice: Advice) -> str:
    parts = [
        f"# {title(advice.situation)}",
        verdict(advice),
        *advice.remarks,
        *(sheet.as_markdown() for sheet in sheets(advice)),
        *(f"- {source}" for source in sources(advice)),
        LIMITS,
    ]
    return "\n\n".join(parts) + "\n"


def write_page(advice: Advice, out: Path) -> Path:
    """Write advice.html, which needs no other file."""
    out.mkdir(parents=True, exist_ok=True)
    drawn = [
        ("Cores over posts/s", cores_over_posts(advice)),
        ("Push or pull", cores_over_reads(advice)),
    ]
    html = TEMPLATES.get_template(PAGE).render(
        title=title(advice.situation),
        verdict=verdict(advice),
        remarks=advice.remarks,
        plots=[(name, Markup(svg)) for name, svg in drawn],  # noqa: S704  our own drawing
        sheets=sheets(advice),
        sources=sources(advice),
        limits=LIMITS,
        best=advice.best.candidate.name,
        lesson=lesson("docs/advise.md", out),
    )
    (out / PAGE).write_text(html)
    return out / PAGE
