"""Columns, verdict and picture of push and pull."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from matplotlib.axes import Axes

from lab.experiments.fanout.presentation import AUDIT, LAG_ENDS, LAG_P99
from lab.experiments.mixed.costs import FEWEST_RATIOS, ROLES, Costs, costs_of
from lab.experiments.mixed.crossover import (
    SEARCHED,
    Bracket,
    Nowhere,
    crossovers,
    reads_per_post,
    share_of_reads,
)
from lab.experiments.search import held_rate, remarks_on, summary_of
from lab.reporting.formats import number
from lab.reporting.plots import GREY, Drawing, Line, Panel, colours_of, curves
from lab.reporting.presentation import (
    CORES_BUSY,
    CPU,
    OFFERED,
    SUCCESS,
    Column,
    Plot,
    Presentation,
    by_load_and_variant,
    extra,
)
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from launch.variants import Variant

POST, FEED, DEEP = "POST /v1/posts/", "GET /v1/feed/", "GET /v1/feed/?before"
PERSON = "GET /v1/people/[id]/posts/"
COST = Column("CPU ms/op", extra("cpu_ms"), spread=True, brief=True)


TICKS = (0, 0.5, 1, 2, 4, 9, 99)
"""Pages read per post."""


def _of_route(route: str, percentile: str) -> Figure:
    return lambda r: r.routes.get(route, {"latency_ms": {}})["latency_ms"].get(percentile)


def _of_role(role: str) -> Figure:
    def figure(result: Result) -> float | None:
        used = result.cpu_s.get(role, 0.0)
        operations = (result.extra.get("posts") or 0.0) + (result.extra.get("reads") or 0.0)
        return used * 1000 / operations if used is not None and operations else None

    return figure


def cost_of_operations(compared: Sequence[Summary]) -> Drawing:
    """CPU per operation over the share of reads, in which costs are linear: a line per variant.

    The crossover is a band.
    """
    lines, edges = [], _edges(compared)
    for name, colour in colours_of(compared).items():
        of_one = [one for one in compared if one.variant.name == name and _is_drawn(one)]
        shares = [share_of_reads(_reads(one)) for one in of_one]
        medians = [one.median(COST.figure) or 0.0 for one in of_one]
        lines.append(Line(name, list(zip(shares, medians, strict=True)), colour, form="o-"))
        for share, one in zip(shares, of_one, strict=True):
            lines.append(
                Line("", [(share, end) for end in one.interval(COST.figure)], colour, name)
            )

    def finish(axes: Axes) -> None:
        if edges:
            ends = share_of_reads(min(edges)), share_of_reads(max(edges))
            axes.axvspan(*ends, color=GREY, alpha=0.3, linewidth=0)
        axes.set_xticks([*map(share_of_reads, TICKS)], [f"{reads:g}" for reads in TICKS])
        axes.set_xlim(0, 1)

    reads = "pages read per post, by their share of all operations"
    return curves(Panel(lines, reads, "CPU ms each", over=finish))


def _edges(compared: Sequence[Summary]) -> list[float]:
    """Return where push and pull cross, in pages read per post."""
    found = [bracket for bracket in crossovers(compared) if isinstance(bracket, Bracket)]
    if len(found) == 1:
        return [found[0].low, found[0].high]
    return [bracket.at for bracket in found]


def _is_drawn(summary: Summary) -> bool:
    is_sound = summary.is_clean and summary.can_be_compared
    is_at_a_number = reads_per_post(summary.load) is not None
    return is_sound and is_at_a_number and summary.median(COST.figure) is not None


def _summaries(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return the summaries in the order of their reads per post, and those of searches."""
    plain = [result for result in results if not SEARCHED.fullmatch(result.load)]
    found = by_load_and_variant(plain, variant_named)
    in_order = sorted(found, key=lambda one: (reads_per_post(one.load) is None, _reads(one)))
    return [*in_order, *_searches(results, variant_named)]


def _searches(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return a summary of each variant's searches at the same reads per post."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if step := SEARCHED.fullmatch(result.load):
            load = step[1].replace("reads", "holds")
            groups.setdefault((load, result.variant), []).append(replace(result, load=load))
    return [summary_of(variant_named(name), steps) for (_, name), steps in sorted(groups.items())]


def _holding(search: Summary) -> str:
    rate = search.median(held_rate)
    return f"{search.name}: {f'{number(rate)} operations/s hold' if rate else 'no rate holds'}."


def _crossover(compared: Sequence[Summary]) -> Iterator[str]:
    found = crossovers(compared)
    brackets = [one for one in found if isinstance(one, Bracket)]
    none = [one for one in found if isinstance(one, Nowhere)]
    if brackets:
        at = [bracket.at for bracket in brackets]
        pushes = " or ".join(dict.fromkeys(bracket.push for bracket in brackets))
        spread = (
            f"from {number(min(at))} to {number(max(at))} in {len(at)} repeats"
            if len(at) > 1
            else f"between {number(brackets[0].low)} and {number(brackets[0].high)}"
        )
        yield (
            f"At {compared[0].results[0].offered_rps:g} operations/s pull costs less CPU than push "
            f"below {number(median(at))} reads per post ({spread}); above, {pushes} costs least."
        )
    for nowhere, count in Counter(none).items():
        repeats = f" in {count} of {len(found)} repeats" if len(found) > 1 else ""
        yield (
            f"No crossover between {number(nowhere.low)} and {number(nowhere.high)} reads per "
            f"post{repeats}: {nowhere.winner} wins everywhere."
        )
    if not found and not all(one.figures.can_be_compared for one in compared):
        yield "Where push and pull cross can't be told: the figures don't count."
    elif not found:
        yield "There is nothing to cross: no load was measured with both push and pull."


def _in_words(costs: Costs) -> str:
    post, read = (
        f"{number(sum(us.values()))} µs ({_parts(us)})" for us in (costs.post_us, costs.read_us)
    )
    base = sum(costs.base_cores.values())
    always = f", and {number(base)} cores are used whatever the rate" if base else ""
    checked = (
        "with two loads only, nothing checks that"
        if costs.runs == FEWEST_RATIOS
        else f"no run differs from that by more than {costs.residual:.0%}"
    )
    return f"{costs.variant}: a post costs {post}, a page {read}{always}; {checked}."


def _parts(us: Mapping[str, float]) -> str:
    return ", ".join(f"{role} {number(used)}" for role, used in us.items() if used)


def _reads(summary: Summary) -> float:
    return reads_per_post(summary.load) or 0.0


def _verdict(compared: Sequence[Summary]) -> str:
    plain = [summary for summary in compared if not summary.tried]
    crossover = _crossover(plain) if plain else ()
    searched = [_holding(summary) for summary in compared if summary.tried]
    return " ".join((*crossover, *searched))


def _conclusions(compared: Sequence[Summary]) -> Sequence[str]:
    """Return what one post and one read cost of each variant, from all its loads."""
    found = costs_of([result for summary in compared for result in summary.results])
    return [_in_words(costs) for costs in found]


PRESENTATION = Presentation(
    columns=(
        OFFERED,
        COST,
        *(Column(f"{role} ms", _of_role(role)) for role in ROLES[:4]),
        SUCCESS,
        Column("read p50 ms", _of_route(FEED, "p50")),
        Column("read p99 ms", _of_route(FEED, "p99"), brief=True),
        Column("deep p99 ms", _of_route(DEEP, "p99")),
        Column("post p50 ms", _of_route(POST, "p50")),
        Column("post p99 ms", _of_route(POST, "p99"), brief=True),
        LAG_P99,
        CORES_BUSY,
    ),
    headline=COST,
    heading="CPU time of the service, ms per operation",
    findings=AUDIT,
    measures_generator=True,
    pictures=(
        Plot(
            "Push or pull",
            "CPU of the whole service per operation (a post that every friend can see, or a page "
            "that is read) over the pages read per post. The grey band is the crossover: left of "
            "it pull costs less than every push.",
            cost_of_operations,
            is_over_loads=True,
        ),
        CPU,
    ),
    limitations=(
        "CPU per operation is measured at one rate. Batches of deliveries are larger at higher "
        "rates, so that a post costs less there; what servers do without requests is part of it.",
        "The load generator's CPU is left out, but its cores are the service's too: latencies "
        "include waiting for a core.",
        LAG_ENDS,
    ),
    lesson="lab/experiments/mixed/lesson.md",
    summaries=_summaries,
    verdict=_verdict,
    conclusions=_conclusions,
    remarks=remarks_on,
)
