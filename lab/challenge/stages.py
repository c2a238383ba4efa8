"""The stages of the challenge: each a load on a fresh service, and what it has to stand."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice, takewhile

from lab.challenge.contestant import PAGE, TIMEOUT_S, Contestant
from lab.challenge.history import Contradiction, Operation
from lab.results.figures import percentiles
from lab.running.threads import repeated
from launch.processes import RunFailed

CLIENTS, BUSY_CLIENTS = 8, 32
SHORT_PAGE = 10
SETTLE_S = 5.0
"""Time for what is delivered after its 201."""
DEADLINE_S = 1.0
RATE, RATED_S = 50, 10.0
LATE_SHARE, REFUSED_SHARE, P99 = 0.01, 0.05, ("p99",)
WATCH_EVERY_S = 0.05
FANS = 5_000
MORE, MORE_WITHIN_S = 50, 30.0
"""Posts that are waited for before and after a kill, and for how long."""
OVER = 3.0
"""Load of the sixth stage, measured in what the service can do."""
ABLE_S, OVERLOAD_S = 5.0, 8.0
PATIENCE_S = 2.0
"""Time-out of its clients."""
GOODPUT_SHARE = 0.5
ABOVE, TRIES = 1.2, 3
"""Whose goodput is so many times above what it could do was not overloaded: again, so often."""
FEW, SPREAD = 10, 40
"""People whose feeds are read to their ends."""


@dataclass(frozen=True)
class Stage:
    number: int
    name: str
    text: str
    """What the service has to do, in one sentence."""
    run: Callable[[Contestant], None]
    """Raises Failed, or leaves contradictions in the history."""
    graph: Mapping[str, int] = field(default_factory=lambda: {"people": 100, "friends": 20})


class Failed(Exception):
    """The service did not do what the stage asks for, for a reason that is no contradiction."""

    def __init__(self, kind: str, what: str, operation: Operation) -> None:
        super().__init__(what)
        self.contradiction = Contradiction(kind, what, None, operation)


def deliver(service: Contestant) -> None:
    """200 posts; SETTLE_S later every feed has what it should, page by page."""
    _post_by_all(service, 200)
    _settle(service, limit=SHORT_PAGE)


def change(service: Contestant) -> None:
    """Unfollows and deletions: gone from the next page on, that is from the answer."""
    _post_by_all(service, 200)
    _settle(service)
    service.history.grace_s = SETTLE_S
    for author in service.people[::5]:
        reader = service.readers_of(author)[0]
        _expect(204, service.unfollow(reader, author))
        service.read_all(reader)
        _expect(204, service.delete(author, max(service.history.of_author[author])))
        for person in (author, *service.readers_of(author)[:3]):
            service.read_all(person)
        _expect(201, service.post(author))
        _expect(204, service.delete(author, max(service.history.accepted)))
        _expect(201, service.post(author))  # under an id that was never used
    _settle(service)


def deadline(service: Contestant) -> None:
    """RATE posts/s for RATED_S: shown to watched followers within DEADLINE_S, 99 % of them."""
    service.history.grace_s = DEADLINE_S + RATED_S  # what is late is counted here, not as lost
    watched = service.people[::20]
    with _watching(service, watched):
        posts = _post_at_rate(service)
        time.sleep(SETTLE_S)
    _expect_most(posts)
    service.figures["posts"] = len(service.history.accepted)
    times = _waits(service, watched)
    service.figures["p99_s"] = percentiles([one[0] for one in times], P99)["p99"] or 0.0
    slow = sorted(waited for waited in times if waited[0] > DEADLINE_S)
    if len(slow) > LATE_SHARE * len(times):
        seconds, reader, post_id = slow[-1]
        what = (
            f"{len(slow)} of {len(times)} times a follower had to wait for longer than "
            f"{DEADLINE_S:g} s; person {reader} for post {post_id}: {seconds:.3g} s"
        )
        raise Failed("late", what, service.history.accepted[post_id])
    _settle(service)


def survive(service: Contestant) -> None:
    """The processes are killed under load and started again: what was answered stays so."""
    _post_by_all(service, len(service.people))
    for author in service.people[::10]:
        service.unfollow(service.readers_of(author)[0], author)
        service.delete(author, service.history.of_author[author][0])
    with _posting(service):
        _wait_for_more_posts(service)
        before = service.history.unanswered
        service.figures["killed_at_s"] = service.now
        service.kill()
        service.start()
        service.figures["again_at_s"] = service.now
        _wait_for_more_posts(service)
    if service.history.unanswered == before:
        raise RunFailed("no request was under way when the service was killed: try again")
    _settle(service)


def celebrity(service: Contestant) -> None:
    """Person 1 has FANS followers, and posts; the posts of others are still in time."""
    others = service.people[100::1000]
    watched = [service.readers_of(author)[-1] for author in others]
    service.history.grace_s = SETTLE_S * 4
    with _watching(service, watched):
        posts = []
        with repeated(partial(service.post, 1)):
            until = service.now + RATED_S
            for author in takewhile(lambda _: service.now < until, cycle(others)):
                posts.append(service.post(author))
                time.sleep(0.1)
        time.sleep(SETTLE_S)
    _expect_most(posts)
    seconds, reader, post_id = max(
        waited
        for waited in _waits(service, watched)
        if service.history.accepted[waited[-1]].person != 1
    )
    service.figures |= {"followers": len(service.readers_of(1)), "slowest_other_s": seconds}
    if seconds > DEADLINE_S:
        what = f"person {reader} waited {seconds:.3g} s for post {post_id} beside a celebrity's"
        raise Failed("late", what, service.history.accepted[post_id])
    _settle(service, [1, *service.readers_of(1)[:: FANS // SPREAD], *watched])


def overload(service: Contestant) -> None:
    """OVER times what it can do: it still answers GOODPUT_SHARE of that in PATIENCE_S."""
    began = service.now
    with _posting(service, BUSY_CLIENTS):
        time.sleep(ABLE_S)
    able = len(service.history.accepted) / (service.now - began)
    for _ in range(TRIES):
        offered = max(1, round(OVER * able))
        answers = service.post_openly(offered, OVERLOAD_S, PATIENCE_S)
        outcomes = Counter(one.note for one in answers)
        goodput = outcomes["in time"] / OVERLOAD_S
        service.figures |= {"able_rps": able, "offered_rps": offered, "goodput_rps": goodput}
        if goodput < ABOVE * able:
            break
        able = goodput  # more than clients who wait for their answers could ask for
    if goodput < GOODPUT_SHARE * able:
        counts = ", ".join(f"{note}: {n:,}" for note, n in outcomes.most_common())
        what = (
            f"of {offered:,} posts/s {goodput:,.0f} were answered 201 within {PATIENCE_S:g} s, "
            f"where {GOODPUT_SHARE * able:,.0f} had been enough (all posts: {counts})"
        )
        raise Failed("slow", what, max(answers, key=lambda one: one.seconds))
    _settle(service, service.people[:: len(service.people) // FEW])


def heal(service: Contestant) -> None:
    """Its cache is emptied under load: feeds are right all the same, SETTLE_S later at most."""
    _post_by_all(service, 200)
    _settle(service)
    with _posting(service):
        time.sleep(1)
        service.figures["emptied_at_s"] = service.now
        service.empty_cache()
        time.sleep(1)
    _settle(service)


STAGES = (
    Stage(1, "deliver", "Everybody who follows an author has each post.", deliver),
    Stage(
        2,
        "change",
        "What is deleted is gone from the next page on, and so are the posts of whom a reader has "
        "unfollowed.",
        change,
    ),
    Stage(
        3,
        "deadline",
        f"At {RATE} posts/s, 99 % are on a follower's page within {DEADLINE_S:g} s.",
        deadline,
    ),
    Stage(
        4,
        "survive",
        "Killed under load (kill -9) and started again, it has kept all that it answered.",
        survive,
    ),
    Stage(
        5,
        "celebrity",
        f"When somebody with {FANS:,} followers posts, the others' posts are still in time.",
        celebrity,
        {"people": 6_000, "friends": 10, "largest": FANS},
    ),
    Stage(
        6,
        "overload",
        "Asked for far more posts than it can take, it still takes half as many in time as it can.",
        overload,
    ),
    Stage(7, "heal", "Its cache is emptied under load, and feeds are right all the same.", heal),
)


def chosen(numbers: Sequence[int] | None, empty: str | None) -> list[Stage]:
    """Return the stages of these numbers; without, all that can be tried. Raises ValueError."""
    known = {stage.number: stage for stage in STAGES}
    if numbers is None:
        return [stage for stage in STAGES if stage.run is not heal or empty]
    if unknown := {*numbers} - known.keys():
        raise ValueError(f"--stages: there is no stage {min(unknown)}, but 1 to {len(STAGES)}")
    if len(STAGES) in numbers and not empty:
        raise ValueError("stage 7 needs --empty, the command that empties your cache")
    return [known[number] for number in numbers]


def _post_by_all(service: Contestant, count: int) -> None:
    """Let people post in turn, from several clients."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        operations = list(clients.map(service.post, islice(cycle(service.people), count)))
    _expect(201, *operations)
    service.figures["posts"] = len(service.history.accepted)


def _expect(status: int, *operations: Operation) -> None:
    for operation in operations:
        if operation.status != status:
            what = f"a request that has to be answered {status} was not"
            raise Failed("refused", what, operation)


def _expect_most(posts: Sequence[Operation]) -> None:
    """Expect all but REFUSED_SHARE of the posts to be accepted."""
    refused = [post for post in posts if post.status != 201]
    if len(refused) > REFUSED_SHARE * len(posts):
        what = f"{len(refused)} of {len(posts)} posts were not answered 201"
        raise Failed("refused", what, refused[-1])


def _settle(service: Contestant, owners: Sequence[int] | None = None, limit: int = PAGE) -> None:
    """Wait until deliveries must have been made, and read feeds to their ends; by default all."""
    time.sleep(SETTLE_S)
    service.history.grace_s = 0
    with ThreadPoolExecutor(CLIENTS) as clients:
        wholes = list(clients.map(partial(service.read_all, limit=limit), owners or service.people))
    if not all(wholes):
        failed = next(one for one in reversed(service.operations) if one.status != 200)
        raise Failed("refused", "a feed could not be read to its end", failed)


def _posting(service: Contestant, clients: int = CLIENTS) -> AbstractContextManager[None]:
    """Let so many people post again and again."""
    authors = cycle(service.people)

    def step() -> None:
        if service.post(next(authors)).status != 201:
            time.sleep(0.05)

    return repeated(*[step] * clients)


def _watching(service: Contestant, readers: Iterable[int]) -> AbstractContextManager[None]:
    """Look at the first pages of some people again and again."""
    looks = [partial(service.read, reader) for reader in readers]
    return repeated(*looks, every_s=WATCH_EVERY_S)


def _post_at_rate(service: Contestant) -> list[Operation]:
    """Post RATE times per second for RATED_S, answered or not; return the posts."""
    authors, began = cycle(service.people), time.monotonic()
    with ThreadPoolExecutor(int(RATE * TIMEOUT_S) + 1) as clients:
        posts = []
        for number in range(int(RATE * RATED_S)):
            time.sleep(max(0.0, began + number / RATE - time.monotonic()))
            posts.append(clients.submit(service.post, next(authors)))
    return [post.result() for post in posts]


def _wait_for_more_posts(service: Contestant) -> None:
    count, give_up_at = len(service.history.accepted) + MORE, time.monotonic() + MORE_WITHIN_S
    while len(service.history.accepted) < count:
        if time.monotonic() > give_up_at:
            what = f"it took no {MORE} more posts within {MORE_WITHIN_S:g} s"
            raise Failed("refused", what, service.operations[-1])
        time.sleep(0.01)


def _waits(service: Contestant, readers: Iterable[int]) -> list[tuple[float, int, int]]:
    """Return (seconds, reader, post id): how long each reader waited from each post's sending."""
    history, waits = service.history, []
    for reader in readers:
        for post_id in history.due(reader, service.now):
            shown_at = history.shown_at(reader, post_id)
            until = service.now if shown_at is None else shown_at
            waits.append((until - history.accepted[post_id].asked_at, reader, post_id))
    return waits
