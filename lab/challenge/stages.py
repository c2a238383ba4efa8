"""The stages of the challenge: each a load on a fresh service, and what it has to stand."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice, takewhile

from lab.challenge.contestant import TIMEOUT_S, Contestant
from lab.challenge.history import Contradiction, Operation
from lab.faults.running import repeated
from lab.results.figures import percentiles
from launch.processes import RunFailed

CLIENTS = 8
SETTLE_S = 5.0
"""Time for what is delivered after its 201."""
DEADLINE_S = 1.0
RATE, RATED_S = 50, 10.0
LATE_SHARE, P99 = 0.01, ("p99",)
WATCH_EVERY_S = 0.05
FANS = 5_000
OVER = 3.0
"""Load of the sixth stage, measured in what the service can do."""
ABLE_S, OVERLOAD_S = 5.0, 8.0
PATIENCE_S = 2.0
"""Time-out of its clients."""
GOODPUT_SHARE = 0.5
SPREAD = 40
"""People whose feeds are read to their ends."""


@dataclass(frozen=True)
class Stage:
    number: int
    name: str
    text: str
    """What the service has to do, in one sentence."""
    run: Callable[[Contestant], Mapping[str, float]]
    """Return figures; raises Failed, or leaves contradictions in the history."""
    graph: Mapping[str, int] = field(default_factory=lambda: {"people": 100, "friends": 20})


class Failed(Exception):
    """The service did not do what the stage asks for, for a reason that is no contradiction."""

    def __init__(self, kind: str, what: str, operation: Operation) -> None:
        super().__init__(what)
        self.contradiction = Contradiction(kind, what, None, operation)


def deliver(service: Contestant) -> Mapping[str, float]:
    """200 posts; SETTLE_S later every feed has what it should."""
    posts = _post_by_all(service, 200)
    _settle(service)
    return {"posts": posts}


def change(service: Contestant) -> Mapping[str, float]:
    """Unfollows and deletions: gone from the next page on, that is from the answer."""
    _post_by_all(service, 200)
    _settle(service)
    service.history.grace_s = SETTLE_S
    changes = 0
    for author in service.people[::5]:
        reader = service.readers_of(author)[0]
        _expect(204, service.unfollow(reader, author))
        service.read_all(reader)
        own = [p for p, op in service.history.accepted.items() if op.person == author]
        _expect(204, service.delete(author, max(own)))
        for person in (author, *service.readers_of(author)[:3]):
            service.read_all(person)
        changes += 2
        service.post(author)
    _settle(service)
    return {"changes": changes}


def deadline(service: Contestant) -> Mapping[str, float]:
    """RATE posts/s for RATED_S: shown to watched followers within DEADLINE_S, 99 % of them."""
    service.history.grace_s = DEADLINE_S + RATED_S  # what is late is counted here, not as lost
    watched = service.people[::20]
    with _watching(service, watched):
        _post_at(service, RATE, RATED_S)
        time.sleep(SETTLE_S)
    times = [
        (_shown_s(service, reader, post_id), reader, post_id)
        for reader in watched
        for post_id in service.history.due(reader, service.now)
    ]
    slow = sorted(waited for waited in times if waited[0] > DEADLINE_S)
    if len(slow) > LATE_SHARE * len(times):
        seconds, reader, post_id = slow[-1]
        what = (
            f"{len(slow)} of {len(times)} times a follower had to wait for longer than "
            f"{DEADLINE_S:g} s; person {reader} for post {post_id}: {seconds:.3g} s"
        )
        raise Failed("late", what, service.history.accepted[post_id])
    _settle(service)
    return {
        "posts": len(service.history.accepted),
        "p99_s": percentiles([seconds for seconds, *_ in times], P99)["p99"] or 0.0,
    }


def survive(service: Contestant) -> Mapping[str, float]:
    """The processes are killed under load and started again: what was answered 201 stays."""
    with _posting(service):
        _wait_for_posts(service, 50)
        before = service.history.unanswered
        service.kill()
        service.start()
        _wait_for_posts(service, len(service.history.accepted) + 50)
    if service.history.unanswered == before:
        raise RunFailed("no request was under way when the service was killed: try again")
    _settle(service)
    return {"posts": len(service.history.accepted)}


def celebrity(service: Contestant) -> Mapping[str, float]:
    """Person 1 has FANS followers, and posts; the posts of others are still in time."""
    others = service.people[100::1000]
    watched = [service.readers_of(author)[-1] for author in others]
    service.history.grace_s = SETTLE_S * 4
    with _watching(service, watched):
        with repeated(partial(service.post, 1)):
            until = service.now + RATED_S
            for author in takewhile(lambda _: service.now < until, cycle(others)):
                service.post(author)
                time.sleep(0.1)
        time.sleep(SETTLE_S)
    times = [
        (_shown_s(service, reader, post_id), reader, post_id)
        for reader in watched
        for post_id in service.history.due(reader, service.now)
        if service.history.accepted[post_id].person != 1
    ]
    seconds, reader, post_id = max(times)
    if seconds > DEADLINE_S:
        what = f"person {reader} waited {seconds:.3g} s for post {post_id} beside a celebrity's"
        raise Failed("late", what, service.history.accepted[post_id])
    _settle(service, [1, *service.readers_of(1)[:: FANS // SPREAD], *watched])
    return {"followers": len(service.readers_of(1)), "others_s": seconds}


def overload(service: Contestant) -> Mapping[str, float]:
    """OVER times what it can do: it still answers GOODPUT_SHARE of that in PATIENCE_S."""
    began = service.now
    with _posting(service):
        time.sleep(ABLE_S)
    able = len(service.history.accepted) / (service.now - began)
    answers = service.post_openly(max(1, round(OVER * able)), OVERLOAD_S, PATIENCE_S)
    goodput = sum(one.status == 201 for one in answers) / OVERLOAD_S
    if goodput < GOODPUT_SHARE * able:
        what = (
            f"of {len(answers) / OVERLOAD_S:,.0f} posts/s only {goodput:,.0f} were answered 201 "
            f"within {PATIENCE_S:g} s, where {able:,.0f} had been possible"
        )
        raise Failed("slow", what, max(answers, key=lambda one: one.seconds))
    _settle(service)
    return {"able_rps": able, "goodput_rps": goodput}


def heal(service: Contestant) -> Mapping[str, float]:
    """Its cache is emptied under load: feeds are right all the same, SETTLE_S later at most."""
    posts = _post_by_all(service, 200)
    _settle(service)
    with _posting(service):
        time.sleep(1)
        service.empty_cache()
        time.sleep(1)
    _settle(service)
    return {"posts": posts}


STAGES = (
    Stage(1, "deliver", "Everybody who follows an author has each post.", deliver),
    Stage(
        2, "change", "Who unfollows, and what is deleted, is gone from the next page on.", change
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
        "Killed under load (kill -9) and started again, it has lost nothing that it accepted.",
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
        f"Asked for {OVER:g} times what it can do, it still does half of that in time.",
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


def _post_by_all(service: Contestant, count: int) -> int:
    """Let people post in turn, from several clients; return how many posts were accepted."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        operations = list(clients.map(service.post, islice(cycle(service.people), count)))
    _expect(201, *operations)
    return len(service.history.accepted)


def _expect(status: int, *operations: Operation) -> None:
    for operation in operations:
        if operation.status != status:
            what = f"a request that has to be answered {status} was not"
            raise Failed("refused", what, operation)


def _settle(service: Contestant, owners: list[int] | None = None) -> None:
    """Wait until deliveries must have been made, and read feeds to their ends; by default all."""
    time.sleep(SETTLE_S)
    service.history.grace_s = 0
    with ThreadPoolExecutor(CLIENTS) as clients:
        wholes = list(clients.map(service.read_all, owners or service.people))
    if not all(wholes):
        failed = next(one for one in reversed(service.operations) if one.status != 200)
        raise Failed("refused", "a feed could not be read to its end", failed)


def _posting(service: Contestant) -> AbstractContextManager[None]:
    """Let CLIENTS people post again and again."""
    authors = cycle(service.people)

    def step() -> None:
        if service.post(next(authors)).status != 201:
            time.sleep(0.05)

    return repeated(*[step] * CLIENTS)


def _watching(service: Contestant, readers: Iterable[int]) -> AbstractContextManager[None]:
    """Look at the first pages of some people again and again."""
    looks = [partial(service.read, reader) for reader in readers]
    return repeated(*looks, every_s=WATCH_EVERY_S)


def _post_at(service: Contestant, rate: float, seconds: float) -> None:
    """Post at a fixed rate, answered or not."""
    authors, began = cycle(service.people), time.monotonic()
    with ThreadPoolExecutor(int(rate * TIMEOUT_S) + 1) as clients:
        for number in range(int(rate * seconds)):
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
            clients.submit(service.post, next(authors))


def _wait_for_posts(service: Contestant, count: int, within_s: float = 30.0) -> None:
    give_up_at = time.monotonic() + within_s
    while len(service.history.accepted) < count:
        if time.monotonic() > give_up_at:
            last = service.operations[-1]
            raise Failed("refused", f"it took no {count} posts within {within_s:g} s", last)
        time.sleep(0.01)


def _shown_s(service: Contestant, reader: int, post_id: int) -> float:
    """Return how long a reader waited for a post, from its being sent."""
    shown_at = service.history.shown_at(reader, post_id)
    asked_at = service.history.accepted[post_id].asked_at
    return (shown_at if shown_at is not None else service.now) - asked_at
