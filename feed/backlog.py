"""A backlog has an end: while deliveries are too far behind, posts are refused.

See docs/decisions/0049-a-backlog-has-an-end.md.
"""

from typing import NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Subquery

from feed import statements
from feed.models import AGE, Post, PostQuerySet
from feed.recipients import ReaderCounts
from feed.strategies import get_strategy
from runtime.remembered import Remembered

BEHIND_S = 5.0
"""While no post waits for longer, no author is asked about."""
LOOKED_AT = 50_000
"""Posts of the backlog, the oldest, by which authors are judged."""
_readers = ReaderCounts()


class BacklogFull(Exception):
    """No post is accepted now."""


def confirm_room(author_id: int) -> None:
    """Raise BacklogFull if deliveries, or those of an author, are too far behind.

    As far as this process knows: it asks once per second, or in ten times as long as asking takes.
    """
    refused = _refused.get()
    if refused.reason or author_id in refused.authors:
        raise BacklogFull


def reason_full() -> str | None:
    """Return why no more posts are accepted; None if they are.

    A post that can't be delivered doesn't count, or it would end all posts.
    """
    return _reason(_oldest())


class _Oldest(NamedTuple):
    """The post that is to be delivered next."""

    id: int = 0
    waited_s: float = 0.0
    newest_id: int = 0
    """That of the newest post."""


def _oldest() -> _Oldest:
    if not get_strategy().delivers:
        return _Oldest()
    newest = Post.objects.order_by("-id").values("id")[:1]
    found = _pending().not_set_aside().values_list("id", AGE, Subquery(newest)).first()
    return _Oldest(found[0], found[1].total_seconds(), found[2]) if found else _Oldest()


def _reason(oldest: _Oldest) -> str | None:
    longest_s, most = settings.FEED_BACKLOG_MAX_AGE_S, settings.FEED_BACKLOG_MAX_POSTS
    if 0 < longest_s < oldest.waited_s:
        return f"the oldest post waits for longer than {longest_s:g} s"
    # They are counted only if there are so many ids.
    if most and oldest.newest_id - oldest.id >= most and _pending()[most:].exists():
        return f"more than {most:,} posts wait"
    return None


def _authors_behind(oldest: _Oldest) -> frozenset[int]:
    """Return the authors of whom more than FEED_BACKLOG_MAX_OF_AUTHOR deliveries wait."""
    most = settings.FEED_BACKLOG_MAX_OF_AUTHOR
    if not most or oldest.waited_s < BEHIND_S:
        return frozenset()
    posts = statements.waiting_by_author(LOOKED_AT)
    readers = _readers.of(posts)
    return frozenset(
        author for author, count in posts.items() if count * (readers[author] + 1) > most
    )


class _Refused(NamedTuple):
    """Whose posts are refused."""

    reason: str | None
    """Why those of all authors are."""
    authors: frozenset[int]
    """Those whose posts have too large a share of the deliveries that wait."""


def _ask() -> _Refused:
    oldest = _oldest()
    return _Refused(_reason(oldest), _authors_behind(oldest))


_refused = Remembered(_ask, for_s=1.0, times=10)


def _pending() -> PostQuerySet:
    return Post.objects.using(DEFAULT_DB_ALIAS).pending().order_by("id")
