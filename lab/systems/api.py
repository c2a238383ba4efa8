"""The API of docs/target-api.md, as its client sees it."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import urllib3
from urllib3.exceptions import HTTPError

from launch.processes import RunFailed

READERS = 8
"""Threads that ask at the same time."""
PAGE = 100
TIMEOUT_S = 10
RETRIES = urllib3.Retry(
    3,
    backoff_factor=0.5,
    status_forcelist=(429, 502, 503, 504),
    respect_retry_after_header=False,  # it may say hours
)


class Person(NamedTuple):
    id: int
    token: str


class Post(NamedTuple):
    id: int
    author: int


class Api:
    """A target. Every method raises RunFailed if it doesn't answer as specified."""

    def __init__(self, url: str, timeout_s: float = TIMEOUT_S, *, follows: bool = False) -> None:
        """``follows``: people have followers instead of friends."""
        self.url = url.rstrip("/")
        self._read = "following" if follows else "friends"
        self._pool = urllib3.PoolManager(
            maxsize=READERS, block=True, timeout=timeout_s, retries=RETRIES
        )

    def authors(self, person: Person) -> frozenset[int]:
        """Return whose posts a person reads: their friends, or those whom they follow."""
        route, found = f"/v1/me/{self._read}/", set[int]()
        path = route
        while path:
            answer = self._get(person, path)
            try:
                found |= {*map(int, answer[self._read])}
                path = f"{route}?after={max(found)}" if answer.get("next") else ""
            except (AttributeError, KeyError, TypeError, ValueError):
                raise self._broken(person, f"{path} says {answer!r:.80}") from None
        return frozenset(found)

    def befriend(self, person: Person, friend_id: int) -> None:
        """Ask for a friendship; it is one when both have asked."""
        path = f"/v1/me/friends/{friend_id}/"
        status = self._ask(person, "PUT", path).status
        if status not in (202, 204):
            raise self._broken(person, f"PUT {path} is answered {status}")

    def post(self, author: Person, body: str) -> None:
        """Write a post."""
        status = self._ask(author, "POST", "/v1/posts/", {"body": body}).status
        if status != 201:
            raise self._broken(author, f"POST /v1/posts/ is answered {status}")

    def feed(self, person: Person) -> Iterator[Post]:
        """Yield a feed to its end."""
        before = None
        while True:
            posts, is_last = self.page(person, before=before)
            yield from posts
            if is_last:
                return
            if not posts or (before is not None and posts[-1].id >= before):
                raise self._broken(person, f"the page before {before} leads nowhere")
            before = posts[-1].id

    def page(
        self, person: Person, *, before: int | None = None, limit: int = PAGE
    ) -> tuple[list[Post], bool]:
        """Return a page of a feed, and whether it is the last."""
        start = "" if before is None else f"&before={before}"
        answer = self._get(person, f"/v1/feed/?limit={limit}{start}")
        try:
            posts = [Post(int(post["id"]), int(post["author"])) for post in answer["posts"]]
            return posts, answer["next"] is None
        except (KeyError, TypeError, ValueError):
            raise self._broken(person, f"/v1/feed/ says {answer!r:.80}") from None

    def _get(self, person: Person, path: str) -> Any:
        answer = self._ask(person, "GET", path)
        if answer.status != 200:
            raise self._broken(person, f"{path} is answered {answer.status}")
        try:
            return answer.json()
        except ValueError:
            raise self._broken(person, f"{path} is no JSON") from None

    def _ask(
        self, person: Person, method: str, path: str, body: Any = None
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Authorization": f"Bearer {person.token}"}
        try:
            return self._pool.request(method, f"{self.url}{path}", headers=headers, json=body)
        except HTTPError as error:
            why = str(getattr(error, "reason", error)).rpartition(": ")[2]
            what = f"no answer ({why}): is the service up, and its address right?"
            raise self._broken(person, what) from error

    def _broken(self, person: Person, what: str) -> RunFailed:
        return RunFailed(f"{self.url}, person {person.id}: {what}")


def read_people(tokens: Path) -> list[Person]:
    """Read a tokens file. Raises FileNotFoundError."""
    with tokens.open(newline="") as file:
        return [Person(int(row["person_id"]), row["token"]) for row in csv.DictReader(file)]
