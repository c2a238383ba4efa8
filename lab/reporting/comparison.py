"""Comparison of the variants of an experiment: ranking, ties and the answer."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from lab.experiments import EXPERIMENTS
from lab.reporting.formats import few, number
from lab.reporting.page import Verdict
from lab.reporting.presentation import Presentation, Published
from lab.reporting.table import Chip
from lab.results.result import Result
from lab.results.summary import WHAT_TO_DO, Deliveries, Figures, Summary, is_tie
from lab.systems.variants import OutsideVariant

ANSWERING = 0.9
"""Variants with a smaller share of successful requests are not compared by speed."""
CHIPS: dict[StrEnum, str] = {
    Deliveries.CLEAN: "clean",
    Deliveries.EXPECTED: "clean",
    Deliveries.LOST: "lost",
    Deliveries.NOT_COMPARED: "unknown",
    Figures.SOUND: "clean",
    Figures.SHARED: "unknown",
    Figures.SHORT: "short",
    Figures.INCONSISTENT: "doubtful",
    Figures.BUSY: "doubtful",
    Figures.NONE: "unknown",
}
"""What a verdict looks like."""


def summaries(results: Iterable[Result]) -> list[Summary]:
    """Group results into summaries, each by its experiment's presentation."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.experiment, []).append(result)
    return [
        summary
        for name, group in groups.items()
        for summary in EXPERIMENTS[name].presentation.summaries(group, EXPERIMENTS[name].variant)
    ]


def presentation_of(compared: Sequence[Summary]) -> Presentation:
    return EXPERIMENTS[compared[0].results[0].experiment].presentation


def published_beside(compared: Sequence[Summary]) -> Sequence[Published]:
    """Return the published figures; none beside other loads or nothing but others' services."""
    presentation = presentation_of(compared)
    is_ours = any(not isinstance(summary.variant, OutsideVariant) for summary in compared)
    is_alike = presentation.is_published_load(compared[-1].results[0])
    return presentation.published if is_ours and is_alike else ()


def in_order(compared: Sequence[Summary]) -> list[Summary]:
    """Return the summaries load by load, those that are ranked first, the best on top."""
    best = [id(summary) for summary in ranked(compared)]
    if presentation_of(compared).verdict(compared):
        return list(compared)
    loads = list(dict.fromkeys(summary.load for summary in compared))
    places = {name: at for at, name in enumerate(best)}
    return sorted(
        compared, key=lambda one: (loads.index(one.load), places.get(id(one), len(compared)))
    )


def ranked(compared: Sequence[Summary]) -> list[Summary]:
    """Return the clean variants under the heaviest load, the best first.

    Empty where the load generator was the limit of one of them: then the figures are Locust's.
    """
    presentation = presentation_of(compared)
    heaviest = [summary for summary in compared if summary.load == compared[-1].load]
    sound = [summary for summary in heaviest if summary.is_clean and summary.can_be_compared]
    clean = [summary for summary in sound if summary.variant.is_ranked]
    if not presentation.measures_generator and any(
        summary.generator_saturated for summary in clean
    ):
        return []
    return sorted(clean, key=presentation.rank)


def worst_audit(summary: Summary) -> dict[str, int] | None:
    """Return the audit that found most; None unless every run has one."""
    audits = [result.audit for result in summary.results if result.audit is not None]
    if len(audits) < len(summary.results):
        return None
    findings = presentation_of([summary]).findings
    return max(audits, key=lambda audit: sum(audit[kind] for kind in findings))


def answer(compared: Sequence[Summary]) -> str:
    """Say in two or three sentences what came out."""
    presentation, best = presentation_of(compared), ranked(compared)
    if verdict := presentation.verdict(compared):
        return verdict
    saturated = [summary.name for summary in compared if summary.generator_saturated]
    if saturated and not presentation.measures_generator:
        return (
            f"Not ranked: Locust itself was the limit of {_listed(saturated)}. Offer less, with "
            "fewer users."
        )
    if not best and any(one.is_clean and not one.figures.can_be_compared for one in compared):
        return "Not ranked: what finished with a clean audit has no figures that can be compared."
    if not best:
        return f"No variant {presentation.condition}. See the errors."
    parts = presentation.praise(best[0]), _ties(best), _contrast(best)
    return " ".join(filter(None, (*parts, presentation.beside(compared))))


def _ties(best: Sequence[Summary]) -> str:
    """Name the variants that the headline can't tell from the first."""
    presentation = presentation_of(best)
    figure = presentation.headline.figure
    tied = [summary.name for summary in best[1:] if is_tie(best[0], summary, figure)]
    if not tied:
        return ""
    what = presentation.headline.label
    why = f"; {presentation.tie_break} put it first" if presentation.tie_break else ""
    return f"By {what} it ties with {_listed(tied)}{why}."


def _contrast(best: Sequence[Summary]) -> str:
    """Compare the first with the last of those that answer most requests, unless they tie."""
    presentation, first = presentation_of(best), best[0]
    figure = presentation.headline.figure
    answering = [
        summary for summary in best[1:] if (summary.median(lambda r: r.success) or 0) > ANSWERING
    ]
    values = {summary.name: summary.median(figure) or 0.0 for summary in answering}
    pick = min if presentation.more_is_better else max
    last = pick(answering, key=lambda summary: values[summary.name], default=first)
    best_value = first.median(figure)
    if is_tie(first, last, figure) or not (best_value and values[last.name]):
        return ""
    ratio = values[last.name] / best_value
    rates = " against ".join(number(one.median(lambda r: r.achieved_rps)) for one in (last, first))
    bound = "at least " if presentation.headline.is_latency and last.is_cut_off else ""
    times = number(1 / ratio if presentation.more_is_better else ratio)
    return presentation.contrast.format(name=last.name, ratio=bound + times, rates=rates)


def verdicts(compared: Sequence[Summary]) -> list[Verdict]:
    """Return what became of deliveries, and what figures are worth, the worst first."""
    return [
        _verdict("Deliveries", Deliveries, [(one.name, one.deliveries) for one in compared]),
        _verdict("Figures", Figures, [(one.name, one.figures) for one in compared]),
    ]


def _verdict(about: str, values: type[StrEnum], found: Sequence[tuple[str, StrEnum]]) -> Verdict:
    by_value = []
    for value in reversed(values):
        names = [name for name, judged in found if judged is value]
        where = f" in {few(names)}" if len(names) < len(found) else ""
        if names:
            chip = Chip(CHIPS[value], value.capitalize())
            by_value.append((chip, where + WHAT_TO_DO.get(value, "")))
    return Verdict(about, by_value)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
