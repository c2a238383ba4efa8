"""The last mile: posts to the screens of people whose feeds are streamed, or polled."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.screens.presentation import (
    POLLS,
    POST,
    PRESENTATION,
    SHORT,
    STREAMED,
    streams_of,
)
from lab.progress import stage
from lab.results import figures
from lab.results.result import Result
from lab.running.load import Load, OpenLoad, generate
from lab.running.screens import Accepted, read_accepted
from lab.running.streams import OPENED_WITHIN_S, Shown, Streams, compare_with, spread
from lab.systems.api import READERS, Api, Person, read_people
from launch.processes import RunFailed
from launch.service import Seed, Service

POSTS_PER_S = 500
RUN_TIME_S = 20
WARM_UP_S = 5
TIMEOUT_S = 10
STREAMS = (0, 100, 1000, 5000)
STAYS_S = 30
"""On average, of streams that are short; others stay until the end."""
PERCENTILES = ("p50", "p99", "max")


def loads(options: RunOptions) -> list[Load]:
    """Return posts with readers who poll, and with more and more streams, or others asked for."""
    names = [f"streams{count}" for count in STREAMS]
    others = [name for name in (options.loads or "").split(",") if STREAMED.fullmatch(name)]
    streamed = [_load(name, options) for name in dict.fromkeys((*names, *others))]
    return [_load(POLLS, options), *streamed]


def _load(name: str, options: RunOptions) -> Load:
    posts, run_time_s = options.users or POSTS_PER_S, options.run_time_s or RUN_TIME_S
    reads = posts if name == POLLS else 0
    return OpenLoad(
        posts + reads,
        run_time_s,
        name=name,
        warm_up_s=min(WARM_UP_S, run_time_s),
        patience_s=TIMEOUT_S,
        options={"posts-per-s": posts, "reads-per-s": reads},
    )


def generate_with_streams(load: Load, service: Service, out: Path, result: Result) -> Load:
    """Open the streams, or see to it that there are pages to read, and run the load."""
    if load.name == POLLS:
        _fill_pages(Api(service.url), read_people(service.tokens))
    if streams := _streams(load, service):
        with stage("open the streams"):
            streams.open()
    return generate(load, service, out, result)


def _streams(load: Load, service: Service) -> Streams | None:
    count, is_short = streams_of(load.name), load.name.endswith(SHORT)
    options = (f"--stays-s={STAYS_S:g}",) if is_short else ()
    return Streams(service, count, *options) if count else None


def _fill_pages(api: Api, people: Sequence[Person]) -> None:
    """Let so many people post that everybody has a friend's post, in a ring; wait for the last."""
    apart = max(1, len(api.authors(people[0])) // 2)
    for author in people[::apart]:
        api.post(author, "hello")
    give_up_at = time.monotonic() + OPENED_WITHIN_S
    while all(post.author != author.id for post in api.page(author)[0]):
        if time.monotonic() > give_up_at:
            raise RunFailed("a post before the load was not delivered")
        time.sleep(0.1)


def conclude(measured: Measured) -> None:
    """Record what the streams showed, and when; compare it with the accepted posts."""
    count, service, result = streams_of(measured.load.name), measured.service, measured.result
    streams = _streams(measured.load, service)
    circles = _circles(Api(service.url), spread(read_people(service.tokens), count))
    fanout.conclude(measured)
    posts = result.routes[POST]["requests"] - result.routes[POST]["failures"]
    result.extra |= {"posts": float(posts), "reads": float(result.requests - posts)}
    if result.balance:
        result.balance.accepted = posts
    if streams and result.audit is not None:
        with stage("wait for the last events"):
            shown = streams.end()
        accepted = read_accepted(measured.folder / "accepted.csv")
        _record(measured, circles, shown, accepted, time.time())


def _circles(api: Api, people: Sequence[Person]) -> dict[int, frozenset[int]]:
    """Return each person's authors: friends, and themselves."""
    with ThreadPoolExecutor(READERS) as pool:
        friends = pool.map(api.authors, people)
        return {one.id: circle | {one.id} for one, circle in zip(people, friends, strict=True)}


def _record(
    measured: Measured,
    circles: Mapping[int, frozenset[int]],
    shown: Sequence[Shown],
    accepted: Sequence[Accepted],
    ended_at: float,
) -> None:
    """What was never shown counts as waiting until the end."""
    result, (start, end) = measured.result, measured.requests.window
    findings, times = compare_with(accepted, circles, shown)
    waited = [(sent_at, min(at, ended_at)) for sent_at, at in times if start <= sent_at < end]
    took_ms = [(at - sent_at) * 1000 for sent_at, at in waited]
    took = figures.percentiles(took_ms, PERCENTILES)
    events, writes = sum(len(one.events) for one in shown), sum(one.writes for one in shown)
    in_window = sum(start <= at < end for one in shown for _, at in one.events)
    result.extra |= {f"stream_{name}_ms": ms for name, ms in took.items()} | {
        "events_per_s": in_window / result.window_s,
        "events_per_write": events / writes if writes else None,
        "stream_us": (result.cpu_s.get("stream") or 0.0) * 1e6 / in_window if in_window else None,
        "gaps": float(sum(one.gaps - 1 for one in shown)),
    }
    assert result.audit is not None
    result.audit |= {**findings, "ok": result.audit["ok"] and not findings.total()}


EXPERIMENT = Experiment(
    name="screens",
    variants=("mysql_tuned-outbox-ring@stream",),
    suits=lambda variant, load: variant.streams or not streams_of(load.name),
    seed=Seed(people=20_000),
    watches=True,
    loads=loads,
    generate=generate_with_streams,
    conclude=conclude,
    presentation=PRESENTATION,
    drain_within_s=60,
)
