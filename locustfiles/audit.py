"""The audit from outside: checks that accepted posts are in the feeds where they are due.

A sample. ``manage.py audit_timelines --accepted FILE`` checks every timeline. Each process with
users looks for the posts that were answered with 201, and reports its findings.
"""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from feed.compare import compare
from locustfiles.people import LoadPerson, People
from locustfiles.posts import NEWEST, AcceptedLog
from locustfiles.service import Unreachable, ask

MOST_FEEDS = 20
PAGE = 100


class Findings(NamedTuple):
    posts: int = 0
    """All accepted posts."""
    feeds: int = 0
    """Feeds that were read."""
    deliveries: int = 0
    """Deliveries due in the part of the feeds that was read."""
    missing: int = 0
    duplicated: int = 0
    unreadable: int = 0
    """Feeds that could not be read."""

    @property
    def ok(self) -> bool:
        return not (self.missing or self.duplicated or self.unreadable)

    def __str__(self) -> str:
        return (
            f"{self.posts:,} posts accepted; {self.deliveries:,} deliveries looked for in "
            f"{self.feeds} feeds: {self.missing} missing, {self.duplicated} duplicated"
            + (f"; {self.unreadable} feeds could not be read" if self.unreadable else "")
        )


def added_up(findings: Sequence[Findings]) -> Findings:
    return Findings(*map(sum, zip(*findings, strict=True)))


def audit(host: str | None, people: People, accepted: AcceptedLog) -> Findings:
    """Read the feeds of up to 20 people who are friends of authors."""
    found = [Findings(posts=accepted.total)]
    for author in _spread(accepted.authors(), MOST_FEEDS):
        reader = people.friend_of(people.at(author))
        due = {*accepted.newest_of(author), *accepted.newest_of(reader.position)}
        try:
            found.append(findings(due, *read_feed(host, reader)))
        except Unreachable:
            found.append(Findings(unreadable=1))
    return added_up(found)


def findings(due: set[int], shown: list[int], whole: bool) -> Findings:
    """Compare the due posts with the newest part of a feed, or with the ``whole`` feed."""
    reached = due if whole else {post_id for post_id in due if post_id >= min(shown)}
    wrong = compare(reached, shown)
    return Findings(
        feeds=1,
        deliveries=len(reached),
        missing=len(wrong.missing),
        duplicated=len(wrong.duplicated),
    )


def read_feed(host: str | None, reader: LoadPerson) -> tuple[list[int], bool]:
    """Return the ids of a feed's newest posts, and whether those are all. Raises Unreachable."""
    shown: list[int] = []
    path: str | None = f"/v1/feed/?limit={PAGE}"
    while path and len(shown) < NEWEST:
        page = ask(host, path, reader.headers)
        shown += [post["id"] for post in page["posts"]]
        path = page["next"] and urlsplit(page["next"])._replace(scheme="", netloc="").geturl()
    return shown, path is None


def _spread(positions: list[int], most: int) -> list[int]:
    """Return at most this many positions, evenly spread."""
    step = max(1, -(-len(positions) // most))
    return positions[::step]
