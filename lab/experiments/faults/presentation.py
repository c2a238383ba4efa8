"""Columns and verdict of the faults."""

from collections.abc import Callable, Sequence

from lab.experiments.faults.figures import FINDINGS, bound
from lab.faults.catalogue import FAULTS
from lab.faults.moments import GOOD, failures
from lab.reporting.formats import number
from lab.reporting.presentation import Column, Presentation, by_load_and_variant, extra
from lab.results.result import Figure, Result
from lab.results.summary import Summary
from launch.variants import Variant

UNSAFE = ("lost", "duplicated", "phantom", "wrong_pages", "late", "never_normal")
NORMAL = Column("normal after s", extra("normal_s"), brief=True)


class FaultsSummary(Summary):
    """The runs of a variant under one fault."""

    @property
    def objection(self) -> str | None:
        is_control = not self.variant.should_be_clean
        return "NOT RED" if is_control and not all(map(self._is_red, self.results)) else None

    def _is_red(self, result: Result) -> bool:
        """Return whether a run found something that no guarded service may show."""
        answers = {name.removeprefix("answers_"): count for name, count in result.extra.items()}
        fault, audit = FAULTS.get(self.load), result.audit or {}
        failed = fault is not None and failures(answers, fault) > 0
        return failed or any(audit.get(kind) for kind in UNSAFE)


def _found(name: str) -> Figure:
    return lambda result: (result.audit or {}).get(name)


def _good(result: Result) -> float | None:
    counts = [result.extra.get(f"answers_{status}") for status in GOOD]
    return sum(count or 0.0 for count in counts) if "moments" in result.extra else None


def _summaries(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return a summary per variant and fault, the controls last."""
    summaries = by_load_and_variant(results, variant_named, FaultsSummary)
    return sorted(summaries, key=lambda one: (not one.variant.should_be_clean, one.variant.name))


def _remarks(summary: Summary) -> Sequence[str]:
    fault = FAULTS.get(summary.load)
    if fault is None:
        return ()
    if not summary.variant.should_be_clean:
        return (f"{summary.name}: without {fault.safeguard}.",)
    control = f" No control: {fault.no_control}." if fault.no_control else ""
    return (f"{summary.name}: {fault.text} At stake: {fault.at_stake}.{control}",)


def _verdict(compared: Sequence[Summary]) -> str:
    guarded = [summary for summary in compared if summary.variant.should_be_clean]
    controls = [summary for summary in compared if not summary.variant.should_be_clean]
    return " ".join(filter(None, (_of_guarded(guarded), _of_controls(controls))))


def _of_guarded(compared: Sequence[Summary]) -> str:
    results = [result for summary in compared for result in summary.results]
    finished = [result for result in results if result.audit is not None]
    if not finished:
        return "No fault was tried to its end." if results else ""
    totals = {kind: sum((r.audit or {}).get(kind, 0) for r in finished) for kind in FINDINGS}
    moments = [int(result.extra["moments"] or 0) for result in finished]
    pages, fewest = sum(r.extra["pages"] or 0 for r in finished), min(moments)
    faults = len({summary.load for summary in compared})
    found = (
        f"{sum(moments):,} moments of {faults} {'fault' if faults == 1 else 'faults'}: "
        f"{totals['lost']:,} deliveries lost, {totals['duplicated']:,} duplicated, "
        f"{totals['phantom']:,} phantom; {totals['wrong_pages']:,} of {pages:,.0f} pages wrong."
    )
    if wrong := [summary.name for summary in compared if not summary.as_expected]:
        return f"{found} Not as it should be: {', '.join(wrong)}."
    return (
        f"{found} 0 of {fewest} moments of one fault means that less than "
        f"{number(100 * bound(fewest))}% of such moments do harm, at 95% confidence."
    )


def _of_controls(compared: Sequence[Summary]) -> str:
    if not compared:
        return ""
    green = [summary.name for summary in compared if not summary.as_expected]
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
        Column("bad answers", _found("bad_answers")),
        NORMAL,
        Column("at worst s", extra("normal_worst_s")),
        Column("never normal", _found("never_normal")),
        Column("longest lag s", extra("longest_lag_s")),
        Column("lag at worst s", extra("longest_lag_worst_s")),
        Column("calm streams p99 ms", extra("streams_calm_p99_ms")),
        Column("other streams p99 ms", extra("streams_p99_ms")),
    ),
    headline=NORMAL,
    heading="Seconds until all was normal",
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
        "Readers compare pages with the accepted posts that had a receipt before they asked.",
        "On a shared machine (--shared) no run fails for being slow; a control may be red for it.",
    ),
    lesson="docs/faults.md",
    summaries=_summaries,
    verdict=_verdict,
    remarks=_remarks,
)
