"""Columns, verdict and picture of overload."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lab.experiments.fanout.presentation import AUDIT, LAG_ENDS
from lab.experiments.overload.steps import (
    COLLAPSED,
    FAILING,
    LEAST_GOODPUT,
    SLOWEST_PROBE_S,
    STEPS,
    Step,
    broken,
    steps_of,
    void,
)
from lab.reporting.formats import number, percent
from lab.reporting.plots import INK, Drawing, Line, Panel, colours_of, curves
from lab.reporting.presentation import OFFERED, Column, Plot, Presentation, extra
from lab.results.result import Result
from lab.results.summary import Summary
from launch.variants import Variant

GOODPUT = Column("goodput/s", extra("goodput_rps"), spread=True, brief=True)


def goodput(compared: Sequence[Summary]) -> Drawing:
    """Accepted, refused and failed posts against offered ones; a ring: the first step again."""
    accepted, not_accepted = [], []
    for name, colour in colours_of(compared).items():
        steps = [summary for summary in compared if summary.variant.name == name]
        rises = _points(steps, "goodput_rps")
        if not rises:
            continue
        rising = 1 + rises.index(max(rises))  # what follows is the first step again
        first, most = rises[0][0], rises[rising - 1][0]
        accepted += [
            Line(name, rises[:rising], colour, form="-o"),
            Line("", rises[rising:], colour, f"{name}, again", "D"),
            Line("", [(0, 0), (first, first), (most, first)], INK, "ideal", ":"),
        ]
        for figure_name, form in (("refused_rps", "-o"), ("failed_rps", ":o")):
            points = _points(steps, figure_name)[:rising]
            not_accepted.append(Line("", points, colour, f"{name}, {figure_name}", form))
    return curves(
        Panel(accepted, "", "posts/s accepted", from_0="xy"),
        Panel(not_accepted, "posts/s offered", "posts/s not accepted", from_0="xy"),
    )


def _points(steps: Sequence[Summary], name: str) -> list[tuple[float, float]]:
    """Return one figure of the steps by what was offered; none without steps."""
    found = [(step.median(extra("arrived_rps")), step.median(extra(name))) for step in steps]
    return [(offered, value or 0.0) for offered, value in found if offered is not None]


def _summaries(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return a summary per variant and step; of a search that found nothing, per load."""
    found = {result.variant for result in results if result.load == STEPS}
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.load == STEPS or result.variant not in found:
            is_control = not variant_named(result.variant).is_proxied
            for one in by_step(result, is_control=is_control):
                groups.setdefault((one.variant, one.load), []).append(one)
    return [Summary(variant_named(name), group) for (name, _), group in groups.items()]


def by_step(result: Result, *, is_control: bool) -> list[Result]:
    """Return a result for each step, with its figures; a result without steps as it is.

    A control may collapse: only its first step has limits.
    """
    steps = steps_of(result)
    if not steps:
        return [result]
    found = [_one(result, step, turn, steps[0]) for turn, step in enumerate(steps, start=1)]
    for one in found[1:] if is_control else ():
        del one.extra["held"]
    return found


def _one(result: Result, step: Step, turn: int, first: Step) -> Result:
    again = " again" if turn > 1 and step.multiple == first.multiple else ""
    why = list(broken(step, first))
    balance = result.balance and replace(
        result.balance,
        users=step.offered_rps,
        begun_rps=step.arrived_rps,
        accepted=None,
    )
    figures = {name: value for name, value in step._asdict().items() if name != "offered_rps"}
    ratio = step.goodput_rps / first.goodput_rps if first.goodput_rps else None
    return replace(
        result,
        load=f"{step.multiple:g}x{again}",
        offered_rps=step.offered_rps,
        achieved_rps=step.goodput_rps,
        requests=round(step.arrived_rps * result.window_s),
        failures=round((step.arrived_rps - step.goodput_rps) * result.window_s),
        latency_ms={"p50": step.p50_ms, "p99": step.p99_ms},
        extra={**figures, "ratio": ratio, "held": not why, "void": any(void(step))},
        errors=why if turn > 1 else [*result.errors],
        balance=balance,
    )


def _verdict(compared: Sequence[Summary]) -> str:
    variants = dict.fromkeys(summary.variant.name for summary in compared)
    return " ".join(filter(None, (_verdict_on(name, compared) for name in variants)))


def _verdict_on(name: str, compared: Sequence[Summary]) -> str:
    """Return what a variant does at its worst step, and whether it should."""
    steps = [summary for summary in compared if summary.variant.name == name]
    if steps[0].median(GOODPUT.figure) is None:
        return ""
    worst = min(steps, key=lambda step: step.median(extra("ratio")) or 0.0)
    probe_s = max(step.median(extra("slowest_probe_s")) or 0.0 for step in steps)
    base = number(steps[0].median(GOODPUT.figure))
    sentence = (
        f"{name} accepts {base} posts/s at 1x, and at its worst step ({worst.load}) "
        f"{percent(worst.median(extra('ratio')))} of that; its slowest probe took "
        f"{number(probe_s)} s."
    )
    wrong = [step.load for step in steps if not step.as_expected]
    control = "" if steps[0].variant.is_proxied else _control(steps)
    return sentence + control + (f" Not as it should be: {', '.join(wrong)}." if wrong else "")


def _control(steps: Sequence[Summary]) -> str:
    collapsed = [step.load for step in steps if _has_collapsed(step)]
    if collapsed:
        return f" This control is red: it collapsed at {', '.join(collapsed)}."
    return " This control is NOT red: no sound step collapsed."


def _has_collapsed(step: Summary) -> bool:
    return step.can_be_compared and (step.median(extra("ratio")) or 0.0) < COLLAPSED


PRESENTATION = Presentation(
    columns=(
        OFFERED,
        GOODPUT,
        Column("of 1x", extra("ratio"), percent, brief=True),
        Column("refused/s", extra("refused_rps"), brief=True),
        Column("failed/s", extra("failed_rps")),
        Column("p50 ms", extra("p50_ms")),
        Column("p99 ms", extra("p99_ms")),
        Column("refused p50 ms", extra("refused_p50_ms")),
        Column("refused p99 ms", extra("refused_p99_ms")),
        Column("probe p99 ms", extra("probe_p99_ms"), brief=True),
        Column("slowest probe s", extra("slowest_probe_s"), brief=True),
        Column("generator late ms", extra("generator_late_ms")),
    ),
    headline=GOODPUT,
    heading="Posts accepted per second",
    findings=AUDIT,
    more_is_better=True,
    measures_generator=True,
    pictures=(
        Plot(
            "Goodput under overload",
            "Posts that were accepted, refused (solid) and neither (dotted) per second against "
            "those offered. Ideal is the thin line: everything up to what holds, and no less "
            "beyond. A ring is the first rate again, after the overload.",
            goodput,
            is_over_loads=True,
        ),
    ),
    limitations=(
        f"A step holds if at least {LEAST_GOODPUT:.0%} of the first one's goodput is accepted (at "
        f"the first rate: of what is offered), at most {FAILING:.0%} of the arrivals is neither "
        "accepted nor refused with Retry-After, and every health probe is answered within "
        f"{SLOWEST_PROBE_S:g} s.",
        "Refused clients don't come back: clients that repeat at once make more arrivals.",
        f"Without a proxy a variant is a control: a step with less than {COLLAPSED:.0%} of the "
        "first one's goodput has collapsed, and the control is red.",
        "The load generator has the last core, and the service the others, unless its servers run "
        "in containers; what the kernel does for their connections is on both.",
        "Whether other programs used the machine is checked in the first step only.",
        LAG_ENDS,
    ),
    lesson="lab/experiments/overload/lesson.md",
    summaries=_summaries,
    verdict=_verdict,
)
