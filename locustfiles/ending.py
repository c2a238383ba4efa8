"""How a headless run ends: the users stop, the backlog drains, and the audit is printed.

The audit from outside checks that accepted posts are in the feeds where they are due. A sample:
``manage.py audit_timelines --accepted FILE`` checks every timeline. Each process with users looks
for the posts that were answered with 201, and reports its findings.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import gevent
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.runners import STATE_MISSING, LocalRunner, MasterRunner, WorkerRunner

from feed.compare import compare
from locustfiles.people import LoadPerson, People
from locustfiles.rows import NEWEST, AcceptedLog
from locustfiles.service import Unreachable, ask
from locustfiles.thresholds import Verdict

MOST_FEEDS = 20
PAGE = 100
GIVE_UP_S = 15.0
"""Seconds without a shorter backlog before giving up."""
LOOK_AGAIN_S = 0.5
AUDIT_WITHIN_S = 60.0
NO_POSTS = "no post was accepted, so there is nothing to audit (--no-audit skips it)"
WHOLE_AUDIT = "a sample, seen from outside; manage.py audit_timelines checks every timeline"


def add_arguments(parser: LocustArgumentParser) -> None:
    drain = "seconds to wait for the drain at the end of a headless run"
    no_audit = "neither wait nor audit at the end of a headless run"
    parser.add_argument("--drain-s", type=float, default=60, help=drain, include_in_web_ui=False)
    parser.add_argument("--no-audit", action="store_true", help=no_audit, include_in_web_ui=False)


class Ending:
    """Collects the findings of every process with users; a single process asks itself."""

    def __init__(
        self, environment: Environment, people: People, accepted: AcceptedLog, verdict: Verdict
    ) -> None:
        assert environment.runner is not None
        options: Any = environment.parsed_options
        self._verdict = verdict
        self._environment = environment
        self._runner = environment.runner
        self._drain_s: float = options.drain_s
        self._people = people
        self._accepted = accepted
        self._reports: list[Findings] = []
        self._runner.register_message("audit", self._report, concurrent=True)
        self._runner.register_message("audited", self._collect)
        if isinstance(self._runner, WorkerRunner):
            return
        # Ctrl-C ends Locust without stopping the users first, and then calculates the exit code.
        environment.events.quitting.add_listener(lambda **kwargs: self._runner.quit())
        if options.headless and not options.no_audit:
            environment.events.test_stop.add_listener(self._audit)

    def _audit(self, **kwargs: Any) -> None:
        print("audit: waiting for the backlog to drain", flush=True)
        workers = self._ask_all()
        findings = added_up([Findings(), *self._reports])
        # A request that Locust cut off may have left a post since.
        backlog = await_drain(self._environment, self._drain_s)
        left = "the service is unreachable" if backlog is None else f"{backlog:,} posts"
        silent = workers - len(self._reports)
        wrong = [
            *([] if findings.ok else [str(findings)]),
            *([] if findings.posts else [NO_POSTS]),
            *([f"{silent} of {workers} workers did not report"] if silent or not workers else []),
            *([f"the backlog is not empty: {left}"] if backlog != 0 else []),
        ]
        print(f"audit: {findings}")
        print(f"audit: {'NOT CLEAN' if wrong else 'clean'} ({WHOLE_AUDIT})", flush=True)
        for reason in wrong:
            self._verdict.fail(f"audit: {reason}")
        if findings.ok:
            self._verdict.note(f"audit: {findings}")

    def _ask_all(self) -> int:
        """Wait for the reports of all running workers; return how many were requested."""
        workers = list(self._runner.clients.all) if isinstance(self._runner, MasterRunner) else []
        requested = 1 if isinstance(self._runner, LocalRunner) else len(workers)
        give_up_at = time.monotonic() + self._drain_s + AUDIT_WITHIN_S
        self._runner.send_message("audit", {"drain_s": self._drain_s})
        while len(self._reports) < requested and time.monotonic() < give_up_at:
            if workers and all(worker.state == STATE_MISSING for worker in workers):
                break
            gevent.sleep(0.1)
        return requested

    def _report(self, environment: Environment, msg: Any) -> None:
        self._runner.stop()
        await_drain(environment, msg.data["drain_s"])
        findings = audit(environment.host, self._people, self._accepted)
        self._runner.send_message("audited", findings._asdict())

    def _collect(self, environment: Environment, msg: Any) -> None:
        self._reports.append(Findings(**msg.data))


def await_drain(environment: Environment, within_s: float) -> int | None:
    """Wait until the backlog is empty or stops shrinking, or time is up.

    Return it; None if the service is unreachable.
    """
    least = float("inf")
    shrunk_at = time.monotonic()
    give_up_at = shrunk_at + within_s
    while True:
        gevent.sleep(LOOK_AGAIN_S)  # an answer for somebody else may be of before the load's end
        backlog: int | None = None
        with suppress(Unreachable):
            backlog = ask(environment.host, "/readyz")["backlog"]["posts"]  # /statusz may be old
        now = time.monotonic()
        if backlog is not None and backlog < least:
            least, shrunk_at = backlog, now
        if backlog == 0 or now > min(give_up_at, shrunk_at + GIVE_UP_S):
            return backlog


class Findings(NamedTuple):
    posts: int = 0
    """All accepted posts."""
    feeds: int = 0
    """Feeds that were read."""
    deliveries: int = 0
    """Deliveries due in the part of the feeds that was read."""
    due: int = 0
    """Deliveries of all accepted posts, extrapolated from up to 20 authors."""
    extrapolated: int = 0
    """Posts whose authors' readers were not counted."""
    missing: int = 0
    duplicated: int = 0
    unreadable: int = 0
    """Feeds that could not be read."""

    @property
    def ok(self) -> bool:
        return not (self.missing or self.duplicated or self.unreadable)

    def __str__(self) -> str:
        return (
            f"{self.posts:,} posts accepted; looked for {self.deliveries:,} of "
            f"{'about ' if self.extrapolated else ''}{self.due:,} deliveries, in "
            f"{self.feeds} feeds: {self.missing} missing, {self.duplicated} duplicated"
            + (f"; {self.unreadable} feeds could not be read" if self.unreadable else "")
        )


def added_up(findings: Sequence[Findings]) -> Findings:
    return Findings(*map(sum, zip(*findings, strict=True)))


def audit(host: str | None, people: People, accepted: AcceptedLog) -> Findings:
    """Read the feeds of up to 20 people who are friends of authors."""
    authors = sorted(accepted.posts)
    authors = authors[:: max(1, -(-len(authors) // MOST_FEEDS))]  # evenly spread
    found = added_up(
        [Findings(), *(_of_author(author, host, people, accepted) for author in authors)]
    )
    posts = accepted.posts.total()
    due = round(found.due * posts / max(found.posts, 1))
    return found._replace(posts=posts, due=due, extrapolated=posts - found.posts)


def _of_author(position: int, host: str | None, people: People, accepted: AcceptedLog) -> Findings:
    """Count the deliveries of an author's posts, and look for the newest in a friend's feed."""
    author, posts = people.at(position), accepted.posts[position]
    reader = people.friend_of(author)
    newest = {*accepted.newest[position], *accepted.newest[reader.position]}
    try:
        due = posts * feeds_with(host, author)
        shown, is_whole = read_feed(host, reader)
    except Unreachable:
        return Findings(unreadable=1)
    reached = newest if is_whole else {post_id for post_id in newest if post_id >= min(shown)}
    wrong = compare(reached, shown)
    return Findings(
        posts, 1, len(reached), due, missing=len(wrong.missing), duplicated=len(wrong.duplicated)
    )


def feeds_with(host: str | None, author: LoadPerson) -> int:
    """Return in how many feeds an author's posts are due, their own included."""
    try:
        readers = ask(host, "/v1/me/friends/", author.headers)["friends"]
    except Unreachable:  # of a service with follows
        pages = pages_of(host, "/v1/me/followers/", author.headers)
        readers = [reader for page in pages for reader in page["followers"]]
    return 1 + len(readers)


def read_feed(host: str | None, reader: LoadPerson) -> tuple[list[int], bool]:
    """Return the ids of a feed's newest posts, and whether those are all. Raises Unreachable."""
    shown: list[int] = []
    for page in pages_of(host, f"/v1/feed/?limit={PAGE}", reader.headers):
        shown += [post["id"] for post in page["posts"]]
        if len(shown) >= NEWEST:
            break
    return shown, page["next"] is None


def pages_of(host: str | None, path: str, headers: Mapping[str, str]) -> Iterator[Any]:
    """Yield the pages of a list. Raises Unreachable."""
    while path:
        page = ask(host, path, headers)
        yield page
        path = page["next"] and urlsplit(page["next"])._replace(scheme="", netloc="").geturl()
