"""Columns and verdict of the faults."""

from collections.abc import Callable, Sequence

from lab.experiments.faults.figures import FINDINGS, bound
from lab.faults.catalogue import FAULTS
from lab.faults.moments import failures
from lab.reporting.formats import number, percent
from lab.reporting.presentation import Column, Presentation, by_load_and_variant, extra
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from launch.variants import Variant

UNSAFE = ("lost", "duplicated", "phantom", "wrong_pages", "late")


def _found(name: str) -> Figure:
    return lambda result: (result.audit or {}).get(name)


def _good(result: Result) -> float | None:
    found = [result.extra.get(f"answers_{status}") for status in (200, 201, 202, 204)]
    return sum(it or 0.0 for it in found) if "moments" in result.extra else None


def _others(result: Result) -> float | None:
    """Return how many answers were neither good nor refusals nor missing."""
    if "moments" not in result.extra:
        return None
    known = {f"answers_{status}" for status in (200, 201, 202, 204, 503, 429, "none")}
    other = [it for name, it in result.extra.items() if name.startswith("answers_")]
    usual = [it for name, it in result.extra.items() if name in known]
    return sum(it or 0.0 for it in other) - sum(it or 0.0 for it in usual)


def _told(result: Result) -> float | None:
    told, moments = result.extra.get("told"), result.extra.get("moments")
    return told / moments if told is not None and moments else None


NORMAL = Column("normal after s", extra("normal_s"), brief=True)


class FaultsSummary(Summary):
    """The runs of a variant under one fault."""

    @property
    def is_control(self) -> bool:
        return not self.variant.should_be_clean

    @property
    def objection(self) -> str | None:
        return "NOT RED" if self.is_control and not self.is_red else None

    @property
    def is_red(self) -> bool:
        """Whether each run found something that no guarded service may show."""
        return all(
            any((result.audit or {}).get(kind) for kind in UNSAFE) or self._failures(result) > 0
            for result in self.results
        )

    def _failures(self, result: Result) -> float:
        answers = {name.removeprefix("answers_"): it for name, it in result.extra.items()}
        fault = FAULTS.get(self.load)
        return failures(answers, fault) if fault else 0.0


def _summaries(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return a summary per variant and fault, the controls last."""
    found = [
        FaultsSummary(summary.variant, summary.results)
        for summary in by_load_and_variant(results, variant_named)
    ]
    return sorted(found, key=lambda it: (not it.variant.should_be_clean, it.variant.name))


def _verdict(compared: Sequence[Summary]) -> str:
    guarded = [summary for summary in compared if summary.variant.should_be_clean]
    controls = [summary for summary in compared if not summary.variant.should_be_clean]
    return " ".join(filter(None, (_of_guarded(guarded), _of_controls(controls))))


def _remarks(summary: Summary) -> Sequence[str]:
    fault = FAULTS.get(summary.load)
    if fault is None:
        return ()
    if not summary.variant.should_be_clean:
        return (f"{summary.name}: without {fault.safeguard}.",)
    control = f" No control: {fault.no_control}." if fault.no_control else ""
    return (f"{summary.name}: {fault.text} At stake: {fault.at_stake}.{control}",)


def _of_guarded(compared: Sequence[Summary]) -> str:
    runs = [result for it in compared for result in it.results]
    finished = [result for result in runs if result.audit is not None]
    if not finished:
        return "No fault was tried to its end." if runs else ""
    totals = {kind: sum((r.audit or {})[kind] for r in finished) for kind in FINDINGS}
    moments = [int(result.extra["moments"] or 0) for result in finished]
    pages, fewest = sum(r.extra["pages"] or 0 for r in finished), min(moments)
    wrong = [it.name for it in compared if not it.as_expected]
    said = (
        f"{sum(moments):,} moments of {len({it.load for it in compared})} faults: "
        f"{totals['lost']:,} deliveries lost, {totals['duplicated']:,} duplicated, "
        f"{totals['phantom']:,} phantom; {totals['wrong_pages']:,} of {pages:,.0f} pages wrong."
    )
    if wrong:
        return f"{said} Not as it should be: {', '.join(wrong)}."
    return (
        f"{said} 0 of {fewest} moments of one fault means that less than "
        f"{number(100 * bound(fewest))}% of such moments do harm, at 95% confidence."
    )


def _of_controls(compared: Sequence[Summary]) -> str:
    if not compared:
        return ""
    green = [it.name for it in compared if not it.as_expected]
    red = f"{len(compared) - len(green)} of {len(compared)} controls are red"
    return f"{red}; NOT RED: {', '.join(green)}." if green else f"{red}."


PRESENTATION = Presentation(
    columns=(
        Column("moments", extra("moments"), brief=True),
        Column("at stake", extra("at_stake"), brief=True),
        Column("lost", _found("lost"), brief=True),
        Column("duplicated", _found("duplicated")),
        Column("phantom", _found("phantom")),
        Column("wrong pages", _found("wrong_pages"), brief=True),
        Column("of pages", extra("pages"), brief=True),
        Column("median s", extra("typical_s")),
        Column("longest s", extra("longest_s"), brief=True),
        Column("2xx", _good),
        Column("503", extra("answers_503")),
        Column("429", extra("answers_429")),
        Column("no answer", extra("answers_none")),
        Column("others", _others),
        NORMAL,
        Column("at worst s", extra("normal_worst_s")),
        Column("longest lag s", extra("longest_lag_s")),
        Column("lag at worst s", extra("longest_lag_worst_s")),
        Column("told after s", extra("told_s")),
        Column("told", _told, percent),
    ),
    headline=NORMAL,
    axis="seconds until all was normal",
    findings=FINDINGS,
    pictures=(),
    limitations=(
        "At stake is the median of what the fault met: keys, posts that were being delivered, or "
        "posts accepted meanwhile. A moment at which nothing was at stake fails the run.",
        "Normal is a second in which every answer is good and the p99 of all requests is at most "
        "twice what it was right before (or 0.1 s); it counts from the beginning of the fault, so "
        "the time for which a server stays frozen or away is in it.",
        "The longest lag is the time for which a post had no receipt, of those accepted from the "
        "beginning of a fault until all was normal: the median of the moments, and the worst.",
        "Told is when /readyz first said 503, or nothing, before all was normal; a dash: never, "
        "which is right where readers and writers notice nothing.",
        "Readers compare pages with the posts that were accepted at least a second before; for "
        "the time in which a fault stops deliveries altogether, they expect nothing new.",
    ),
    lesson="docs/faults.md",
    summaries=_summaries,
    verdict=_verdict,
    remarks=_remarks,
)
