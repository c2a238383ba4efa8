"""The stream, the way to it or its clients fail, while all that streams show is compared."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle
from operator import attrgetter

from lab.faults.fault import Need, fault
from lab.faults.moments import Moment
from lab.faults.readers import Readers
from lab.faults.running import Running, wait_for
from lab.faults.slow import SlowProxy, be_slow
from lab.faults.slow_proxy import HALF_OPEN, KINDS
from lab.results.figures import percentiles
from lab.running.screens import Accepted
from lab.running.streams import Streams, compare_with, opened

P99 = ("p99",)
COUNT = 10
"""Streams that the fault meets, and as many others."""
HIT, OTHERS = "readers", "other readers"
DOWN_S = 1.0
POSTS = 400
LONG_BODY = json.dumps({"body": "x" * 2000})
"""So many of these are more than all buffers of a connection hold."""
Found = dict[str, float | None]
streams: Need = attrgetter("streams")


@contextmanager
def watched(
    running: Running, *, through_proxy: bool = True, spares_others: bool = True
) -> Iterator[Callable[[Sequence[Moment]], Found]]:
    """Read streams while the block runs; yield what compares them, after the drain.

    ``through_proxy``: half of them, which can be slow; it holds what a client doesn't read.
    ``spares_others``: the others must be as fast as ever.
    """
    service, url = running.service, ""
    proxy = SlowProxy(service.processes, service.folder, service.stream_address, {})
    proxy.turns = cycle(name for name, kind in KINDS.items() if not kind.lost_requests)
    if through_proxy:
        proxy.start()
        service.servers.append(proxy)
        url = f"http://{proxy.address}:{proxy.port}"
    hit, others = Streams(service, COUNT, role=HIT, url=url), Streams(service, COUNT, role=OTHERS)
    hit.open()
    others.open()
    yield partial(compared, running, hit, others, spares_others=spares_others)
    if through_proxy:
        service.servers.remove(proxy)
        running.processes.stop(proxy.role)


def compared(
    running: Running,
    hit: Streams,
    others: Streams,
    moments: Sequence[Moment],
    *,
    spares_others: bool,
) -> Found:
    """Return what streams lack, show twice or should not show, and the p99 of the others."""
    to_unix_s = time.time() - time.monotonic()
    accepted = [
        Accepted(post["id"], post["author"], at + to_unix_s) for at, post in running.accepted
    ]
    circles = {
        person: frozenset(authors | {person})
        for person, authors in Readers(running).authors.items()
    }
    findings, _ = compare_with(accepted, circles, hit.end())
    findings_of_others, times = compare_with(accepted, circles, others.end())
    found: Found = dict(findings + findings_of_others)
    if not spares_others:
        return found
    calm_ms, during_ms = list[float](), list[float]()
    for sent_at, shown_at in times:
        at = sent_at - to_unix_s
        is_during = any(moment.began_at <= at < moment.mended_at for moment in moments)
        (during_ms if is_during else calm_ms).append((shown_at - sent_at) * 1000)
    return found | {
        "calm_p99_ms": percentiles(calm_ms, P99)["p99"],
        "others_p99_ms": percentiles(during_ms, P99)["p99"],
    }


stream_fault = partial(
    fault, needs=(streams,), safeguard="positions", refuses=False, around=watched
)


@stream_fault(
    f"The stream is killed, and starts again after {DOWN_S:g} s.",
    at_stake="posts accepted meanwhile",
    around=partial(watched, spares_others=False),
)
def stream_killed(running: Running, readers: Readers) -> int:
    began = wait_until_open(running)
    running.processes.kill("stream")
    time.sleep(DOWN_S)
    running.service.start_stream()
    return running.accepted_between(began, time.monotonic())


@stream_fault(
    "In turn: events come 50 or 500 ms late; each connection carries 10 kB/s; 2% of its data are "
    f"lost, with the connection; for {KINDS[HALF_OPEN].lasts_s:g} s, open connections lose all "
    "data.",
    at_stake="posts in flight, or accepted meanwhile",
)
def slow_stream(running: Running, readers: Readers) -> int:
    wait_until_open(running)
    return be_slow(running)


@stream_fault(
    f"For {KINDS[HALF_OPEN].lasts_s:g} s, half of the streams lose all data: their link is cut.",
    at_stake="posts in flight, or accepted meanwhile",
)
def stream_cut_off(running: Running, readers: Readers) -> int:
    wait_until_open(running)
    return be_slow(running, HALF_OPEN)


@stream_fault(
    f"Half of the clients read nothing while {POSTS} long posts are accepted.",
    at_stake="posts accepted meanwhile",
    around=partial(watched, through_proxy=False),
)
def stream_unread(running: Running, readers: Readers) -> int:
    began = wait_until_open(running)
    with closing(running.connection()) as http, Streams(running.service, COUNT, role=HIT).unread():
        for number in range(POSTS):
            token = running.tokens[number % len(running.tokens)]
            status, post = running.ask(http, token, "POST", "/v1/posts/", LONG_BODY)
            if status == 201:
                running.accepted.append((time.monotonic(), post))
    return running.accepted_between(began, time.monotonic())


def wait_until_open(running: Running) -> float:
    """Wait until all streams are open; return the time then."""
    wait_for(lambda: opened(running.service) >= 2 * COUNT)
    return time.monotonic()
