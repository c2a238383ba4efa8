"""The audit through the API alone: compares whole feeds with the journal of accepted posts."""

import csv
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from feed.compare import compare
from lab.systems.api import READERS, Api, Person, Post
from launch.processes import RunFailed

LOOK_EVERY_S = 0.5
Friends = Mapping[int, frozenset[int]]
"""By person id."""


class Journal:
    """The posts that were answered with 201."""

    def __init__(self, posts: Iterable[Post]) -> None:
        """Raises RunFailed if two posts have the same id."""
        self.author_of: dict[int, int] = {}
        self._by_author: defaultdict[int, set[int]] = defaultdict(set)
        for post in posts:
            if post.id in self.author_of:
                raise RunFailed(f"two posts were accepted with the id {post.id}")
            self.author_of[post.id] = post.author
            self._by_author[post.author].add(post.id)
        self.first = min(self.author_of, default=0)

    @classmethod
    def read(cls, accepted: Path) -> "Journal":
        with accepted.open(newline="") as file:
            rows = csv.DictReader(file)
            return cls(Post(int(row["id"]), int(row["author"])) for row in rows)

    def due(self, authors: Iterable[int]) -> set[int]:
        return set().union(*(self._by_author.get(author, ()) for author in authors))


class Findings(NamedTuple):
    """What is wrong in one feed."""

    expected: int
    missing: int
    duplicated: int
    strangers: int
    """Posts of authors who are no friends, or whose author isn't who wrote them."""
    not_accepted: frozenset[int]
    """Ids of posts of this load that were never answered with 201."""


def findings(
    shown: Sequence[Post], owner: int, friends: frozenset[int], journal: Journal
) -> Findings:
    authors = {owner, *friends}
    due, author_of = journal.due(authors), journal.author_of
    strangers = {
        post.id
        for post in shown
        if post.author not in authors or author_of.get(post.id, post.author) != post.author
    }
    ids = [post.id for post in shown]
    wrong = compare(due, ids)
    new = {post_id for post_id in ids if post_id > journal.first and post_id not in author_of}
    return Findings(
        expected=len(due),
        missing=len(wrong.missing),
        duplicated=len(wrong.duplicated),
        strangers=len(strangers),
        not_accepted=frozenset(new - strangers),
    )


class FeedAudit:
    """Reads the feeds of all people until each shows what is due in it."""

    def __init__(
        self, api: Api, people: Sequence[Person], friends: Friends, journal: Journal
    ) -> None:
        self._api = api
        self._people = people
        self._friends = friends
        self._journal = journal
        self._found: dict[int, Findings] = {}
        self.complete_at = 0.0
        """Unix time at which the last feed was seen complete."""

    def await_newest(self) -> Iterator[int]:
        """Wait until each feed shows the newest post that is due; yield how many don't yet."""
        newest = {person: max(due) for person in self._people if (due := self._due(person))}
        yield from self._until_all(lambda person: self._shows(person, newest[person]), list(newest))

    def read_all(self) -> Iterator[int]:
        """Read each feed to its end, again while a post is missing; yield how many lack one."""
        yield from self._until_all(self._read, self._people)

    def counts(self, unknown_outcomes: int) -> Counter[str]:
        """Add up what was found.

        ``unknown_outcomes``: requests without a 201, whose posts may have been stored; feeds may
        show as many posts that weren't accepted, and no more.
        """
        total: Counter[str] = Counter(posts=len(self._journal.author_of))
        not_accepted: Counter[int] = Counter()
        for found in self._found.values():
            total["expected"] += found.expected
            total["missing"] += found.missing
            total["duplicated"] += found.duplicated
            total["unexpected"] += found.strangers
            not_accepted.update(found.not_accepted)
        if len(not_accepted) > unknown_outcomes:
            total["unexpected"] += not_accepted.total()
        return total

    def _until_all(
        self, is_complete: Callable[[Person], bool], waiting: Sequence[Person]
    ) -> Iterator[int]:
        with ThreadPoolExecutor(READERS) as readers:
            while waiting:
                complete = readers.map(is_complete, waiting)
                waiting = [
                    person for person, done in zip(waiting, complete, strict=True) if not done
                ]
                yield len(waiting)
                if waiting:
                    self.complete_at = 0.0
                    time.sleep(LOOK_EVERY_S)
        self.complete_at = self.complete_at or time.time()

    def _due(self, person: Person) -> set[int]:
        return self._journal.due((person.id, *self._friends[person.id]))

    def _shows(self, person: Person, post_id: int) -> bool:
        posts, _ = self._api.page(person, before=post_id + 1, limit=1)
        return any(post.id == post_id for post in posts)

    def _read(self, person: Person) -> bool:
        shown = list(self._api.feed(person))
        found = findings(shown, person.id, self._friends[person.id], self._journal)
        self._found[person.id] = found
        return not found.missing
