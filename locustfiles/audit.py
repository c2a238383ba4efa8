"""The audit from outside: are the posts that were accepted in the feeds where they are due?

A sample. ``manage.py audit_timelines --accepted FILE`` looks at every timeline. Each process that
plays people looks for the posts that it was told were accepted, and reports what it found.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from locustfiles.people import LoadPerson, People
from locustfiles.posts import NEWEST, AcceptedLog
from locustfiles.service import Unreachable, ask

MOST_FEEDS = 20
PAGE = 100


class Findings(NamedTuple):
    posts: int = 0
    """Accepted, all of them."""
    feeds: int = 0
    """Looked at."""
    deliveries: int = 0
    """Looked for: posts that are due in those feeds, and not too old to be looked at."""
    missing: int = 0
    duplicated: int = 0
    unreadable: int = 0
    """Feeds that the service didn't answer."""

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
            found.append(compare(due, *read_feed(host, reader)))
        except Unreachable:
            found.append(Findings(unreadable=1))
    return added_up(found)


def compare(due: set[int], shown: list[int], whole: bool) -> Findings:
    """Look for posts in the newest part of a feed, or in all of it if that is the ``whole``."""
    reached = due if whole else {post_id for post_id in due if post_id >= min(shown)}
    twice = sum(times - 1 for times in Counter(shown).values())
    missing = len(reached.difference(shown))
    return Findings(feeds=1, deliveries=len(reached), missing=missing, duplicated=twice)


def read_feed(host: str | None, reader: LoadPerson) -> tuple[list[int], bool]:
    """Return the ids of a feed's newest posts, and whether those are all. Raises Unreachable."""
    shown: list[int] = []
    before = ""
    while len(shown) < NEWEST:
        page = ask(host, f"/v1/feed/?limit={PAGE}{before}", reader.headers)
        shown += [post["id"] for post in page["posts"]]
        if page["next"] is None:
            return shown, True
        before = f"&before={shown[-1]}"
    return shown, False


def _spread(positions: list[int], most: int) -> list[int]:
    """Return so many of them at most, spread over all."""
    step = max(1, -(-len(positions) // most))
    return positions[::step]
