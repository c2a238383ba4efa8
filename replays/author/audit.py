"""Audit of the author's service: compares the feeds with the accepted posts.

A post is known by the end of its text, which the load generator makes unique: each of several
SQLite files counts its own ids.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import redis

from feed.compare import compare

AUTHOR = 1
TAG_LENGTH = 32
"""Characters at the end of a text that identify the post (``replays.author.locustfile``)."""
OWNERS = "SELECT related_person FROM feed_personrelation WHERE person = 1"
POSTS = f"SELECT id, SUBSTR(content, -{TAG_LENGTH}) FROM post_post"  # noqa: S608
RECORDS = (
    f"SELECT owner, SUBSTR(content, -{TAG_LENGTH}) AS tag, COUNT(*) "  # noqa: S608
    "FROM feed_feedrecord GROUP BY owner, tag"
)


class Entry(NamedTuple):
    """A post in a feed, and how often."""

    owner: int
    tag: str
    times: int


def accepted_tags(path: Path) -> set[str]:
    """Return the posts that were answered with 201."""
    with path.open(newline="") as file:
        return {row["tag"] for row in csv.DictReader(file)}


def audit(connection: Any, accepted: set[str], feeds: redis.Redis | None = None) -> Counter[str]:
    """Count what is wrong in the feeds of one database, or in those that Redis keeps of it.

    Expected is every accepted post, once in each feed. Of a post that is in the database though
    its client got an error, a feed may have an entry or not.
    """
    posts = dict(_rows(connection, POSTS))
    owners = {AUTHOR, *(owner for (owner,) in _rows(connection, OWNERS))}
    entries = (
        _in_redis(feeds, owners, posts) if feeds else map(Entry._make, _rows(connection, RECORDS))
    )
    return compare_feeds(entries, owners, accepted, known={*posts.values()})


def compare_feeds(
    entries: Iterable[Entry], owners: set[int], accepted: set[str], *, known: set[str]
) -> Counter[str]:
    shown: defaultdict[int, list[str]] = defaultdict(list)
    for owner, tag, times in entries:
        shown[owner] += [tag] * times
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    found = Counter(posts=len(accepted), expected=len(accepted) * len(owners))
    for owner in owners | shown.keys():
        due, allowed = (accepted, known) if owner in owners else (set[str](), set[str]())
        wrong = compare(
            [numbers[tag] for tag in due],
            [numbers[tag] for tag in shown[owner]],
            allowed=[numbers[tag] for tag in allowed],
        )
        found.update({kind: len(ids) for kind, ids in wrong._asdict().items()})
    return found


def _in_redis(
    feeds: redis.Redis, owners: Iterable[int], posts: Mapping[int, str]
) -> Iterator[Entry]:
    """Read every sorted set; a post that the database doesn't know keeps its id for a tag."""
    for owner in owners:
        post_ids: Any = feeds.zrange(f"feed_{owner}", 0, -1)
        for post_id in map(int, post_ids):
            yield Entry(owner, posts.get(post_id, str(post_id)), 1)


def _rows(connection: Any, sql: str) -> Iterator[Any]:
    cursor = connection.cursor()
    cursor.execute(sql)
    yield from cursor.fetchall()
