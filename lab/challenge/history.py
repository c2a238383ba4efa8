"""What was asked of a feed and what it answered, and what of that contradicts itself."""

import math
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from lab.systems.api import Post


class Operation(NamedTuple):
    """A request and its answer. Times are in seconds since the stage began."""

    person: int
    """0: not known."""
    text: str
    """Method and path."""
    asked_at: float
    answered_at: float
    status: int | None
    """None: no answer."""
    note: str = ""
    """What the answer says, like "post 12"."""

    def __str__(self) -> str:
        who = f"person {self.person}" if self.person else "somebody"
        note = f" ({self.note})" if self.note else ""
        answer = f"was answered {self.status}{note} at" if self.status else "had no answer by"
        asked = f"{who} asked {self.text} at {self.asked_at:.3f} s"
        return f"{asked}, and {answer} {self.answered_at:.3f} s"

    @property
    def seconds(self) -> float:
        return self.answered_at - self.asked_at


class Page(NamedTuple):
    """A page of a feed."""

    operation: Operation
    posts: list[Post]
    before: int | None
    is_last: bool
    limit: int
    """Posts that were asked for."""

    @property
    def owner(self) -> int:
        return self.operation.person

    @property
    def reach(self) -> tuple[float, float]:
        """Return from which id, and below which, a post of the feed has to be on it."""
        below = math.inf if self.before is None else self.before
        if self.is_last:
            return -math.inf, below
        return (self.posts[-1].id if self.posts else below), below


class Contradiction(NamedTuple):
    """Two operations that can't both be right."""

    kind: str
    """lost, late, double, order, paging, stranger, forged, unknown, deleted, left, back, refused,
    slow, ended."""
    what: str
    first: Operation | None = None
    second: Operation | None = None

    def __str__(self) -> str:
        operations = "; ".join(str(one) for one in (self.first, self.second) if one)
        return f"{self.what}: {operations}" if operations else self.what


@dataclass
class History:
    """What happened in a stage, from all threads."""

    authors: Mapping[int, frozenset[int]]
    """Whom each person follows at the beginning."""
    grace_s: float = 0.0
    """A page may lack a post for so long after its 201."""
    accepted: dict[int, Operation] = field(default_factory=dict)
    """By id of the post."""
    deleted: dict[int, Operation] = field(default_factory=dict)
    left: dict[tuple[int, int], Operation] = field(default_factory=dict)
    """Unfollows, by reader and author."""
    unanswered: int = 0
    """Posts that were not answered with 201, and may exist all the same."""
    contradictions: list[Contradiction] = field(default_factory=list)
    pages: int = 0
    compared: int = 0
    """Entries of pages that had to be there."""
    of_author: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The ids of the posts that were accepted, in ascending order."""
    _shown: dict[int, dict[int, Operation]] = field(default_factory=lambda: defaultdict(dict))
    """By owner, the posts that pages showed, and the first such page."""
    _unknown: dict[int, Operation] = field(default_factory=dict)
    """Posts that pages showed before they were accepted, if ever, and the first such page."""
    _lock: Lock = field(default_factory=Lock)

    def post(self, operation: Operation, post: Post | None) -> None:
        """Note a post; None: it was not answered as it should be."""
        with self._lock:
            if post is None:
                self.unanswered += 1
            elif post.id in self.accepted:
                self._add("double", "two posts have one id", self.accepted[post.id], operation)
            else:
                self.accepted[post.id] = operation
                insort(self.of_author[operation.person], post.id)

    def read(self, page: Page) -> None:
        """Judge a page, and note what it showed."""
        with self._lock:
            self.pages += 1
            self.contradictions += self._wrong(page)
            shown = self._shown[page.owner]
            for post in page.posts:
                shown.setdefault(post.id, page.operation)

    def shown_at(self, owner: int, post_id: int) -> float | None:
        """Return when a page of a person first showed a post."""
        operation = self._shown[owner].get(post_id)
        return operation.answered_at if operation else None

    def due(
        self, owner: int, before: float, lowest: float = -math.inf, below: float = math.inf
    ) -> set[int]:
        """Return the posts that a person's feed has to have, accepted before a time.

        With ``lowest`` and ``below`` (ids) only these, so that a page needn't look at all posts.
        """
        return {
            post_id
            for author in (owner, *self.authors[owner])
            if (owner, author) not in self.left
            for post_id in _between(self.of_author[author], lowest, below)
            if self.accepted[post_id].answered_at <= before and post_id not in self.deleted
        }

    def conclude(self) -> None:
        """Judge, when all requests have ended, what was shown and never accepted."""
        unknown = self._unknown.keys() - self.accepted.keys()
        if len(unknown) > self.unanswered:
            post_id = min(unknown)
            what = f"post {post_id}, which nobody wrote, is shown"
            self._add("unknown", what, None, self._unknown[post_id])

    def _add(self, kind: str, what: str, first: Operation | None, second: Operation) -> None:
        self.contradictions.append(Contradiction(kind, what, first, second))

    def _wrong(self, page: Page) -> Iterator[Contradiction]:
        asked, owner = page.operation, page.owner
        ids = [post.id for post in page.posts]
        if len(set(ids)) < len(ids):
            double = next(post_id for post_id in ids if ids.count(post_id) > 1)
            yield Contradiction("double", f"post {double} is on a page twice", None, asked)
        elif ids != sorted(ids, reverse=True):
            yield Contradiction("order", "a page is not newest first", None, asked)
        if paging := _paging(page, ids):
            yield Contradiction("paging", paging, None, asked)
        yield from self._not_due(page)
        due, shown = self.due(owner, asked.asked_at, *page.reach), self._shown[owner]
        lacking = sorted(due - {*ids})
        settled = asked.asked_at - self.grace_s
        missing = [one for one in lacking if self.accepted[one].answered_at <= settled]
        gone = [one for one in lacking if one in shown and shown[one].answered_at <= asked.asked_at]
        self.compared += len(due & {*ids}) + len(missing)
        lacks = f"the feed of person {owner} lacks post"
        if gone:
            what = f"{lacks} {gone[0]}, which it had shown"
            yield Contradiction("back", what, shown[gone[0]], asked)
        elif missing:
            yield Contradiction("lost", f"{lacks} {missing[0]}", self.accepted[missing[0]], asked)

    def _not_due(self, page: Page) -> Iterator[Contradiction]:
        """Yield what a page shows that may not be there."""
        asked, owner = page.operation, page.owner
        first = min((posts[0] for posts in self.of_author.values() if posts), default=0)
        for post in page.posts:
            accepted = self.accepted.get(post.id)
            left = self.left.get((owner, post.author))
            deleted = self.deleted.get(post.id)
            if accepted and accepted.person != post.author:
                what = f"post {post.id} is shown as person {post.author}'s"
                yield Contradiction("forged", what, accepted, asked)
            elif post.author not in (owner, *self.authors[owner]):
                shown = f"person {owner} is shown post {post.id} of {post.author}"
                what = f"{shown}, whom they don't follow"
                yield Contradiction("stranger", what, accepted, asked)
            elif left and left.answered_at <= asked.asked_at:
                what = f"person {owner} is shown post {post.id} of {post.author} after an unfollow"
                yield Contradiction("left", what, left, asked)
            elif deleted and deleted.answered_at <= asked.asked_at:
                yield Contradiction("deleted", f"post {post.id} is shown", deleted, asked)
            elif not accepted and post.id > first:
                self._unknown.setdefault(post.id, asked)


def _between(ids: list[int], lowest: float, below: float) -> list[int]:
    """Return those of sorted ids that are at least ``lowest``, and below ``below``."""
    return ids[bisect_left(ids, lowest) : bisect_left(ids, below)]


def _paging(page: Page, ids: list[int]) -> str:
    """Say what is wrong with a page as one of many."""
    if len(ids) > page.limit:
        return f"a page has {len(ids)} posts, where {page.limit} were asked for"
    if page.before is not None and any(post_id >= page.before for post_id in ids):
        return f"a page has post {max(ids)}, where posts below {page.before} were asked for"
    return "" if ids or page.is_last else "an empty page says that there are more"
