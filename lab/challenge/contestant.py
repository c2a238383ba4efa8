"""The service that is tried: its processes, its people, and the requests that it gets."""

import csv
import http.client
import json
import secrets
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import local
from typing import Any

from lab.challenge.history import History, Operation, Page
from lab.running.load import as_arguments
from lab.systems.api import Post
from lab.systems.service import edges
from launch.processes import HERE, Processes, RunFailed, free_port
from launch.service import is_ready

ROLE = "service"
READY_WITHIN_S = 60
TIMEOUT_S = 10.0
PAGE = 100


class Contestant:
    """A service, started by a command, with people who follow each other."""

    def __init__(
        self,
        processes: Processes,
        command: str,
        folder: Path,
        graph: Mapping[str, int],
        empty: str | None = None,
    ) -> None:
        """``graph``: options of ``manage.py list_edges``; ``empty``: what empties its cache."""
        self.empty = empty
        self.processes, self.command, self.folder = processes, shlex.split(command), folder
        self.people = range(1, graph["people"] + 1)
        self.port = free_port()
        self.environment = {
            "PORT": str(self.port),
            "TOKENS": str(folder / "tokens.csv"),
            "EDGES": str(folder / "edges.csv"),
            "FOLDER": str(folder / "data"),
        }
        (folder / "data").mkdir(parents=True)
        found = edges(processes, graph, "follows")
        _write(folder / "edges.csv", ("author_id", "reader_id"), found)
        tokens = [(person, secrets.token_hex(8)) for person in self.people]
        _write(folder / "tokens.csv", ("person_id", "token"), tokens)
        authors: dict[int, set[int]] = {person: set() for person in self.people}
        for author, reader in found:
            authors[reader].add(author)
        self.authors = {reader: frozenset(of) for reader, of in authors.items()}
        self.history = History(self.authors)
        self.operations: list[Operation] = []
        self.figures: dict[str, float] = {}
        """What a stage has measured so far."""
        self.has_lengths = True
        """Its answers have a Content-Length."""
        self._began_at = time.monotonic()
        self._tokens: dict[int, str] = {}
        self._connections = local()
        self._opened: list[http.client.HTTPConnection] = []

    def start(self) -> None:
        """Start the command, and wait until it answers. Raises RunFailed if it never does."""
        self.processes.start(ROLE, self.command, self.environment)
        try:
            self.processes.wait_until(ROLE, lambda: is_ready(self.port), within_s=READY_WITHIN_S)
        except RunFailed as error:
            address = f"http://{HERE}:{self.port}/readyz"
            raise RunFailed(f"{error}; nothing answered GET {address} with 200") from None
        rows = _rows(Path(self.environment["TOKENS"]))  # it may have made its own
        self._tokens = {int(row["person_id"]): row["token"] for row in rows}

    def kill(self) -> None:
        """End the command and all processes below it at once."""
        self.processes.kill(ROLE)

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._opened:
            connection.close()

    @property
    def now(self) -> float:
        """Seconds since this was made."""
        return time.monotonic() - self._began_at

    def readers_of(self, author: int) -> list[int]:
        return [reader for reader, authors in self.authors.items() if author in authors]

    def post(self, author: int) -> Operation:
        operation, answer = self._ask(author, "POST", "/v1/posts/", '{"body": "text"}')
        post = None
        if operation.status == 201:
            match answer:
                case {"id": int(post_id), "created_at": _}:
                    post = Post(post_id, author)
                    operation = operation._replace(note=f"post {post_id}")
                case _:
                    raise RunFailed(f"{operation}, which is no post: {answer!r:.80}")
        self.history.post(operation, post)
        return operation

    def post_openly(self, rate: int, seconds: float, timeout_s: float) -> list[Operation]:
        """Post at a rate, answered or not, by the generator of the laboratory; return all posts.

        Raises RunFailed if that can't read its answers.
        """
        if not self.has_lengths:
            raise RunFailed("answers without a Content-Length: this stage's load can't read them")
        accepted, requests = self.folder / "accepted.csv", self.folder / "requests.csv"
        began = time.time() - self.now
        options = {
            "host": f"http://{HERE}:{self.port}",
            "tokens": self.environment["TOKENS"],
            "posts-per-s": rate,
            "warm-up-s": 0,
            "run-time-s": seconds,
            "timeout-s": timeout_s,
            "requests": requests,
            "accepted": accepted,
        }
        command = [sys.executable, "-m", "locustfiles.open_load", *as_arguments(options)]
        self.processes.call("load", command, {})
        found = []
        for row in _rows(requests):
            asked_at = float(row["timestamp"]) - began
            answered_at = asked_at + float(row["response_time_ms"]) / 1000
            status = None if row["exception"] else 201
            note = row["exception"] or "in time"
            found.append(Operation(0, "POST /v1/posts/", asked_at, answered_at, status, note))
            self.history.unanswered += status is None
        for row in _rows(accepted):
            post = Post(int(row["id"]), int(row["author"]))
            at, note = float(row["sent_at"]) - began, f"post {post.id}"
            posted = Operation(post.author, "POST /v1/posts/", at, self.now, 201, note)
            self.history.post(posted, post)
        self.operations += found
        return found

    def empty_cache(self) -> None:
        """Run the command that empties its cache. Raises RunFailed if that fails."""
        assert self.empty is not None
        self.processes.call("empty", ["sh", "-c", self.empty], self.environment)

    def delete(self, author: int, post_id: int) -> Operation:
        operation, _ = self._ask(author, "DELETE", f"/v1/posts/{post_id}/")
        if operation.status == 204:
            self.history.deleted[post_id] = operation
        return operation

    def unfollow(self, reader: int, author: int) -> Operation:
        operation, _ = self._ask(reader, "DELETE", f"/v1/me/following/{author}/")
        if operation.status == 204:
            self.history.left[reader, author] = operation
        return operation

    def read(self, owner: int, before: int | None = None, limit: int = PAGE) -> Page | None:
        """Read a page and judge it; return None if it was not answered as it should be."""
        start = "" if before is None else f"&before={before}"
        operation, answer = self._ask(owner, "GET", f"/v1/feed/?limit={limit}{start}")
        if operation.status != 200:
            return None
        try:
            posts = [Post(int(post["id"]), int(post["author"])) for post in answer["posts"]]
            is_last = answer["next"] is None
        except (KeyError, TypeError, ValueError):
            raise RunFailed(f"{operation}, which is no page: {answer!r:.80}") from None
        note = f"{len(posts)} posts, next {'null' if is_last else 'set'}"
        page = Page(operation._replace(note=note), posts, before, is_last, limit)
        self.history.read(page)
        return page

    def read_all(self, owner: int, limit: int = PAGE) -> bool:
        """Read a feed to its end; return whether all of it was answered."""
        before = None
        while page := self.read(owner, before, limit):
            if page.is_last or not page.posts or page.posts[-1].id == before:
                return True
            before = page.posts[-1].id
        return False

    def _ask(
        self, person: int, method: str, path: str, body: str | None = None
    ) -> tuple[Operation, Any]:
        """Send a request; return it with the answer's parsed body, None for none."""
        headers = {"Authorization": f"Bearer {self._tokens[person]}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        asked_at, status, answer = self.now, None, None
        connection = self._connection()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content, status = response.read(), response.status
            if content and "Content-Length" not in response.headers:
                self.has_lengths = False
            answer = json.loads(content) if content else None
        except (OSError, http.client.HTTPException):
            connection.close()
        except ValueError:
            pass  # the status says enough
        operation = Operation(person, f"{method} {path}", asked_at, self.now, status)
        self.operations.append(operation)
        return operation, answer

    def _connection(self) -> http.client.HTTPConnection:
        """Return this thread's connection."""
        if not hasattr(self._connections, "own"):
            self._connections.own = http.client.HTTPConnection(HERE, self.port, timeout=TIMEOUT_S)
            self._opened.append(self._connections.own)
        connection: http.client.HTTPConnection = self._connections.own
        return connection


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(head)
        table.writerows(rows)
