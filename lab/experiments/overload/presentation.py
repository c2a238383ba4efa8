"""Columns, verdict and picture of overload."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from matplotlib import figure as drawn

from lab.experiments.fanout.presentation import FanoutPresentation
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
from lab.reporting.plots import INK, Line, as_svg, colours_of, legend, panel, panels
from lab.reporting.presentation import OFFERED, Column, Plot
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from lab.results.thresholds import HeldSummary
from lab.results.verdict import Figures
from launch.variants import Variant


def _of_step(name: str) -> Figure:
    return lambda result: result.extra.get(name)


GOODPUT = Column("goodput/s", _of_step("goodput_rps"), spread=True, brief=True)


class OverloadSummary(HeldSummary):
    """The runs of one variant at one step. Without a proxy it is a control, which may collapse."""

    @property
    def objection(self) -> str | None:
        is_beyond = (self.median(_of_step("turn")) or 1) > 1
        return None if is_beyond and not self.variant.is_proxied else super().objection

    @property
    def figures(self) -> Figures:
        is_void = any(result.extra.get("void") for result in self.results)
        found = super().figures
        return Figures.INCONSISTENT if is_void and found.can_be_compared else found


@as_svg
def goodput(width: float, compared: Sequence[Summary]) -> drawn.Figure:
    """Accepted, refused and failed posts against offered ones; a ring: the first step again."""
    figure, (above, below) = panels(width, 2)
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
    panel(above, accepted, "", "posts/s accepted", from_0="xy")
    panel(below, not_accepted, "posts/s offered", "posts/s not accepted", from_0="xy")
    return legend(figure, above)


def _points(steps: Sequence[Summary], name: str) -> list[tuple[float, float]]:
    """Return one figure of the steps by what was offered; none without steps."""
    found = [(_figure(step, "arrived_rps"), _figure(step, name)) for step in steps]
    return [(offered, value or 0.0) for offered, value in found if offered is not None]


def _figure(summary: Summary, name: str) -> float | None:
    return summary.median(lambda result: result.extra.get(name))


class OverloadPresentation(FanoutPresentation):
    lesson = "lab/experiments/overload/lesson.md"
    published = ()
    measures_generator = True
    columns: ClassVar[tuple[Column, ...]] = (
        OFFERED,
        GOODPUT,
        Column("of 1x", _of_step("ratio"), percent, brief=True),
        Column("refused/s", _of_step("refused_rps"), brief=True),
        Column("failed/s", _of_step("failed_rps")),
        Column("p50 ms", _of_step("p50_ms")),
        Column("p99 ms", _of_step("p99_ms")),
        Column("refused p50 ms", _of_step("refused_p50_ms")),
        Column("refused p99 ms", _of_step("refused_p99_ms")),
        Column("probe p99 ms", _of_step("probe_p99_ms"), brief=True),
        Column("slowest probe s", _of_step("slowest_probe_s"), brief=True),
        Column("generator late ms", _of_step("generator_late_ms")),
    )
    headline = GOODPUT
    axis = "posts accepted per second"
    pictures: ClassVar[tuple[Plot, ...]] = (
        Plot(
            "Goodput under overload",
            "Posts that were accepted, refused (solid) and neither (dotted) per second against "
            "those offered. Ideal is the thin line: everything up to what holds, and no less "
            "beyond. A ring is the first rate again, after the overload.",
            goodput,
        ),
    )
    limitations: ClassVar[tuple[str, ...]] = (
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
        *FanoutPresentation.limitations[:1],
    )

    def summaries(
        self, results: Sequence[Result], variant_named: Callable[[str], Variant]
    ) -> list[Summary]:
        """Return a summary per variant and step; of a search that found nothing, per load."""
        found = {result.variant for result in results if result.load == STEPS}
        groups: dict[tuple[str, str], list[Result]] = {}
        for result in results:
            if result.load == STEPS or result.variant not in found:
                for one in by_step(result):
                    groups.setdefault((one.variant, one.load), []).append(one)
        return [OverloadSummary(variant_named(name), them) for (name, _), them in groups.items()]

    def verdict(self, compared: Sequence[Summary]) -> str:
        variants = dict.fromkeys(summary.variant.name for summary in compared)
        return " ".join(filter(None, (_verdict(name, compared) for name in variants)))


def by_step(result: Result) -> list[Result]:
    """Return a result for each step, with its figures; a result without steps as it is."""
    steps = steps_of(result)
    if not steps:
        return [result]
    return [_one(result, step, turn, steps[0]) for turn, step in enumerate(steps, start=1)]


def _one(result: Result, step: Step, turn: int, first: Step) -> Result:
    again = " again" if turn > 1 and step.multiple == first.multiple else ""
    why = list(broken(step, first))
    balance = result.balance and replace(
        result.balance,
        users=step.offered_rps,
        begun_rps=step.arrived_rps,
        accepted=None,
    )
    figures = {name: it for name, it in step._asdict().items() if name != "offered_rps"}
    ratio = step.goodput_rps / first.goodput_rps if first.goodput_rps else None
    return replace(
        result,
        load=f"{step.multiple:g}x{again}",
        offered_rps=step.offered_rps,
        achieved_rps=step.goodput_rps,
        requests=round(step.arrived_rps * result.window_s),
        failures=round((step.arrived_rps - step.goodput_rps) * result.window_s),
        latency_ms={"p50": step.p50_ms, "p99": step.p99_ms},
        extra={**figures, "ratio": ratio, "turn": turn, "held": not why, "void": any(void(step))},
        errors=why if turn > 1 else [*result.errors],
        balance=balance,
    )


def _verdict(name: str, compared: Sequence[Summary]) -> str:
    """Return what a variant does at its worst step, and whether it should."""
    steps = [summary for summary in compared if summary.variant.name == name]
    if steps[0].median(GOODPUT.figure) is None:
        return ""
    worst = min(steps, key=lambda it: it.median(_of_step("ratio")) or 0.0)
    probe_s = max(it.median(_of_step("slowest_probe_s")) or 0.0 for it in steps)
    base = number(steps[0].median(GOODPUT.figure))
    said = (
        f"{name} accepts {base} posts/s at 1x, and at its worst step ({worst.load}) "
        f"{percent(worst.median(_of_step('ratio')))} of that; its slowest probe took "
        f"{number(probe_s)} s."
    )
    wrong = [it.load for it in steps if not it.as_expected]
    control = "" if steps[0].variant.is_proxied else _control(steps)
    return said + control + (f" Not as it should be: {', '.join(wrong)}." if wrong else "")


def _control(steps: Sequence[Summary]) -> str:
    collapsed = [it.load for it in steps if _has_collapsed(it)]
    if collapsed:
        return f" This control is red: it collapsed at {', '.join(collapsed)}."
    return " This control is NOT red: no sound step collapsed."


def _has_collapsed(step: Summary) -> bool:
    return step.can_be_compared and (step.median(_of_step("ratio")) or 0.0) < COLLAPSED
