"""The advice as a page, the same as Markdown, and in the terminal."""

from lab.advise.answer import Advice, sources, tables, verdict
from lab.advise.pictures import cores_over_posts, cores_over_reads
from lab.advise.situation import Situation
from lab.reporting.page import Listing, Page, Picture

PAGE = "advice.html"
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
