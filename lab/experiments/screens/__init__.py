"""The last mile: posts to the screens of people whose feeds are streamed, or polled."""

import json
import sys
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.screens.presentation import POST, PRESENTATION, STREAMED
from lab.progress import stage
from lab.results import figures
from lab.running.load import Load, OpenLoad, generate
from lab.running.screens import Accepted, read_accepted
from lab.running.streams import Shown, spread
from lab.systems.api import READERS, Api, Person, read_people
from launch.service import Seed, Service

LOCUSTFILE = "locustfiles/open_load.py"
POSTS_PER_S = 500
RUN_TIME_S = 20
WARM_UP_S = 5
TIMEOUT_S = 10
STREAMS = (0, 100, 1000, 5000)
POLLS_PER_S = 500
OPENED_WITHIN_S = 120
READING = (sys.executable, "-m", "lab.running.streams")


def loads(options: RunOptions) -> list[Load]:
    """Return posts with readers who poll, and with more and more streams, or others asked for."""
    names = [f"streams{count}" for count in STREAMS]
    others = [name for name in (options.loads or "").split(",") if STREAMED.fullmatch(name)]
    streamed = [_load(name, options) for name in dict.fromkeys((*names, *others))]
    return [_load("polls", options, reads_per_s=POLLS_PER_S), *streamed]


def _load(name: str, options: RunOptions, *, reads_per_s: float = 0.0) -> Load:
    posts, run_time_s = options.users or POSTS_PER_S, options.run_time_s or RUN_TIME_S
    return OpenLoad(
        posts,
        run_time_s,
        LOCUSTFILE,
        name=name,
        arrivals="open",
        warm_up_s=min(WARM_UP_S, run_time_s),
        patience_s=TIMEOUT_S,
        options={"posts-per-s": posts, "reads-per-s": reads_per_s},
        files=("accepted", "steps"),
    )


def streams_of(load: Load) -> int:
    streamed = STREAMED.fullmatch(load.name)
    return int(streamed[1]) if streamed else 0


def generate_with_streams(load: Load, service: Service, out: Path) -> Load:
    """Open the streams, and run the load."""
    if count := streams_of(load):
        url = f"http://{service.processes.address('stream')}:{service.stream_port}"
        people = (f"--tokens={service.tokens}", f"--count={count}")
        with stage(f"open {count:,} streams"):
            service.processes.start(
                "readers", (*READING, f"--url={url}", *people, f"--out={_file(service)}"), {}
            )
            service.processes.wait_until(
                "readers", lambda: _open(url) == count, within_s=OPENED_WITHIN_S
            )
    return generate(load, service, out)


def _open(url: str) -> int:
    with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:  # noqa: S310
        return int(json.load(answer)["streams"])


def conclude(measured: Measured) -> None:
    """Record what the streams showed, and when; compare it with the accepted posts."""
    count, service, result = streams_of(measured.load), measured.service, measured.result
    people = spread(read_people(service.tokens), count)
    circles = _circles(Api(service.url), people)
    fanout.conclude(measured)
    posts = result.routes[POST]["requests"] - result.routes[POST]["failures"]
    result.extra |= {"posts": float(posts), "reads": float(result.requests - posts)}
    if result.balance:
        result.balance.accepted = posts
    if count and result.audit is not None:
        service.processes.stop("readers")
        shown = [Shown(*row) for row in json.loads(_file(service).read_text())]
        accepted = read_accepted(measured.folder / "accepted.csv")
        _record(measured, circles, shown, accepted)


def _file(service: Service) -> Path:
    return service.folder / "streams.json"


def _circles(api: Api, people: Sequence[Person]) -> dict[int, frozenset[int]]:
    """Return each person's authors: friends, and themselves."""
    with ThreadPoolExecutor(READERS) as pool:
        friends = pool.map(api.friends, people)
        return {one.id: circle | {one.id} for one, circle in zip(people, friends, strict=True)}


def _record(
    measured: Measured,
    circles: Mapping[int, frozenset[int]],
    shown: Sequence[Shown],
    accepted: Sequence[Accepted],
) -> None:
    result, (start, end) = measured.result, measured.requests.window
    by_author: dict[int, list[Accepted]] = defaultdict(list)
    for post in accepted:
        by_author[post.author].append(post)
    authors = {post.id: post.author for post in accepted}
    took_ms: list[float] = []
    findings: Counter[str] = Counter()
    for stream in shown:
        circle, times = circles[stream.person], Counter(post_id for post_id, _ in stream.events)
        at = dict(reversed(stream.events))
        due = [post for author in circle for post in by_author[author]]
        due = [post for post in due if post.sent_at > stream.opened_at]
        findings["unseen"] += sum(post.id not in times for post in due)
        findings["seen_twice"] += sum(count - 1 for count in times.values())
        findings["foreign"] += sum(
            authors.get(post_id, stream.person) not in circle for post_id in times
        )
        took_ms += [
            (at.get(post.id, inf) - post.sent_at) * 1000
            for post in due
            if start <= post.sent_at < end
        ]
    events, writes = sum(len(stream.events) for stream in shown), sum(s.writes for s in shown)
    in_window = sum(start <= at < end for stream in shown for _, at in stream.events)
    result.extra |= {
        **{
            f"stream_{name}_ms": ms
            for name, ms in figures.percentiles(took_ms, ("p50", "p99", "max")).items()
        },
        "events_per_s": in_window / result.window_s,
        "events_per_write": events / writes if writes else None,
        "stream_us": (result.cpu_s.get("stream") or 0.0) * 1e6 / in_window if in_window else None,
        "gaps": float(sum(stream.gaps for stream in shown) - len(shown)),
    }
    assert result.audit is not None
    result.audit |= {**findings, "ok": result.audit["ok"] and not findings.total()}


EXPERIMENT = Experiment(
    name="screens",
    variants=("mysql_tuned-outbox-ring@stream",),
    suits=lambda variant, load: variant.streams or not streams_of(load),
    locustfile=LOCUSTFILE,
    seed=Seed(people=20_000),
    seeding=(("seed_posts", "--each=1", "--days=1"),),
    watches=True,
    loads=loads,
    generate=generate_with_streams,
    conclude=conclude,
    presentation=PRESENTATION,
    drain_within_s=60,
)
