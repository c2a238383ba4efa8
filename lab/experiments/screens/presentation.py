"""Columns, verdict and picture of streams and polling."""

import re
from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes

from lab.experiments.fanout.presentation import AUDIT, LAG_ENDS, LAG_P99, SCREEN_P50, SCREEN_P99
from lab.reporting.formats import measured, number
from lab.reporting.plots import Drawing, Line, Panel, colours_of, curves
from lab.reporting.presentation import (
    CORES_BUSY,
    CPU,
    SUCCESS,
    Column,
    Plot,
    Presentation,
    by_load_and_variant,
    extra,
)
from lab.results.result import Result
from lab.results.summary import Summary

SHORT = "-short"
STREAMED = re.compile(rf"streams(\d+)(?:{SHORT})?")
POST = "POST /v1/posts/"
POLLS = "polls"
STREAM_P99 = Column("stream p99 ms", extra("stream_p99_ms"), spread=True, brief=True)
EVENTS = Column("events/s", extra("events_per_s"), brief=True)


class StreamsSummary(Summary):
    """The runs of a variant under a load, some of which have no streams."""

    @property
    def nothing(self) -> str:
        return super().nothing if streams_of(self.load) else "no streams"


def _posts_per_s(result: Result) -> float | None:
    posts = result.extra.get("posts")
    return posts / result.window_s if posts is not None else None


def streams_of(load: str) -> int:
    """Return how many streams the name of a load says; 0 if it is another kind of load."""
    streamed = STREAMED.fullmatch(load)
    return int(streamed[1]) if streamed else 0


def _service_cores(result: Result) -> float | None:
    used = result.service_s
    return used / result.window_s if used is not None else None


def _crossover(compared: Sequence[Summary]) -> Sequence[str]:
    """Say at which interval polling costs as much as a stream, for each number of streams."""
    return [text for name in colours_of(compared) for text in _of_variant(name, compared)]


def _of_variant(name: str, compared: Sequence[Summary]) -> list[str]:
    by_load = {one.load: one for one in compared if one.variant.name == name}
    if not {"streams0", POLLS} <= by_load.keys():
        return []
    base = by_load["streams0"].median(_service_cores)
    polling = by_load[POLLS].median(_service_cores)
    reads = by_load[POLLS].median(lambda r: (r.extra.get("reads") or 0.0) / r.window_s)
    if base is None or polling is None or not reads:
        return []
    page_s = (polling - base) / reads
    texts = [f"{name}: a page that is polled costs {number(page_s * 1e6)} µs of the service's CPU."]
    for one in by_load.values():
        cores, streams = one.median(_service_cores), streams_of(one.load)
        if streams and cores is not None and cores > base:
            each = (cores - base) / streams
            texts.append(
                f"{name}: of {streams:,} streams each costs {number(each * 1e6)} µs per second, as "
                f"much as polling every {number(page_s / each)} s."
            )
    return texts


def _verdict(compared: Sequence[Summary]) -> str:
    """Say how late the events were, for each number of streams."""
    streamed = [one for one in compared if streams_of(one.load)]
    late = ", ".join(f"{STREAM_P99.cell(one)} ms ({one.name})" for one in streamed)
    return late and f"99 % of the events were on their streams within {late}."


def time_to_screen(compared: Sequence[Summary]) -> Drawing:
    """The p50 and p99 of the time to screen over the number of streams."""
    lines = []
    for name, colour in colours_of(compared).items():
        of_one = [one for one in compared if one.variant.name == name and streams_of(one.load)]
        for percentile, form in (("p50", "o--"), ("p99", "o-")):
            points = [
                (float(streams_of(one.load)), one.median(extra(f"stream_{percentile}_ms")) or 0.0)
                for one in of_one
            ]
            lines.append(Line(f"{name}, {percentile}", points, colour, form=form))

    def finish(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)

    return curves(Panel(lines, "open streams", "time to screen, ms", over=finish))


PRESENTATION = Presentation(
    columns=(
        Column("posts/s", _posts_per_s, brief=True),
        SUCCESS,
        EVENTS,
        Column("stream p50 ms", extra("stream_p50_ms"), brief=True),
        STREAM_P99,
        Column("stream max ms", extra("stream_max_ms")),
        SCREEN_P50,
        SCREEN_P99,
        LAG_P99,
        Column("events/write", extra("events_per_write"), measured),
        Column("stream cores", lambda r: r.cores("stream"), measured, brief=True),
        Column("µs/event", extra("stream_us")),
        Column("stream MiB", lambda r: r.memory_mib.get("stream")),
        Column("gaps", extra("gaps")),
        CORES_BUSY,
    ),
    headline=STREAM_P99,
    heading="From sending a post to a friend's stream, p99 in ms",
    findings=(*AUDIT, "unseen", "seen_twice", "foreign"),
    measures_generator=True,
    pictures=(
        Plot(
            "Time to screen",
            "From sending a post until a friend's stream shows it, over the number of streams.",
            time_to_screen,
            lambda r: r.extra.get("stream_p50_ms"),
            is_over_loads=True,
        ),
        CPU,
    ),
    limitations=(
        "Each stream is compared with the accepted posts of its person's friends: unseen posts, "
        "posts that were seen twice, and foreign ones.",
        "The streams are read on the same machine: their readers' CPU is left out, but its cores "
        "are the service's too.",
        "Two of the people are watched through pages too: screen p50 and p99 are theirs.",
        LAG_ENDS,
    ),
    lesson="lab/experiments/screens/lesson.md",
    conclusions=_crossover,
    summaries=partial(by_load_and_variant, kind=StreamsSummary),
    verdict=_verdict,
)
