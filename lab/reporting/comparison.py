"""What the results of an experiment say when they are put side by side."""

from collections.abc import Iterable, Sequence

from lab.experiments import EXPERIMENTS
from lab.experiments.base import Experiment
from lab.results.summary import Summary, is_tie
from lab.reporting.formats import number
from lab.results.result import Result

ANSWERING = 0.9
"""What fails more of its requests is no measure for another's speed."""


def lines(results: Iterable[Result]) -> list[Summary]:
    """Let each experiment make lines of its results."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.experiment, []).append(result)
    return [line for name, group in groups.items() for line in EXPERIMENTS[name].lines(group)]


def experiment_of(compared: Sequence[Summary]) -> Experiment:
    return EXPERIMENTS[compared[0].results[0].experiment]


def ranked(compared: Sequence[Summary]) -> list[Summary]:
    """Return the clean variants under the heaviest load, the best first.

    Empty where the load generator was the limit of one of them: then the figures are Locust's.
    """
    experiment = experiment_of(compared)
    heaviest = [line for line in compared if line.load == compared[-1].load]
    sound = [line for line in heaviest if line.is_clean and line.held and not line.broken_laws]
    clean = [line for line in sound if line.variant.is_ranked]
    if not experiment.searches and any(line.generator_saturated for line in clean):
        return []
    return sorted(clean, key=experiment.rank)


def worst_audit(line: Summary) -> dict[str, int] | None:
    """Return the audit that found most; None unless every run has one."""
    audits = [result.audit for result in line.results if result.audit is not None]
    if len(audits) < len(line.results):
        return None
    findings = experiment_of([line]).findings
    return max(audits, key=lambda audit: sum(audit[kind] for kind in findings))


def answer(compared: Sequence[Summary]) -> str:
    """Say in two or three sentences what came out."""
    experiment, best = experiment_of(compared), ranked(compared)
    if verdict := experiment.verdict(compared):
        return verdict
    saturated = [line.name for line in compared if line.generator_saturated]
    if saturated and not experiment.searches:
        return (
            f"Not ranked: Locust itself was the limit of {_listed(saturated)}. Offer less, with "
            "fewer users."
        )
    if not best:
        has_limits = experiment.searches or any(not line.held for line in compared)
        within = ", within the limits" if has_limits else ""
        return f"No variant that delivers finished with a clean audit{within}. See the errors."
    said = (
        experiment.praise(best[0]),
        _ties(best),
        _contrast(best),
        _failed(compared),
        experiment.beside(compared),
    )
    return " ".join(filter(None, said))


def _ties(best: Sequence[Summary]) -> str:
    """Name the variants that the headline can't tell from the first."""
    experiment = experiment_of(best)
    figure = experiment.headline.figure
    tied = [line.name for line in best[1:] if is_tie(best[0], line, figure)]
    if not tied:
        return ""
    what = experiment.headline.label
    why = f"; {experiment.tie_break} put it first" if experiment.tie_break else ""
    return f"By {what} it ties with {_listed(tied)}{why}."


def _contrast(best: Sequence[Summary]) -> str:
    """Compare the first with the last of those that answer most requests, unless they tie."""
    experiment, first = experiment_of(best), best[0]
    figure = experiment.headline.figure
    answering = [line for line in best[1:] if (line.median(lambda r: r.success) or 0) > ANSWERING]
    values = {line.name: line.median(figure) or 0.0 for line in answering}
    pick = min if experiment.more_is_better else max
    last = pick(answering, key=lambda line: values[line.name], default=first)
    best_value = first.median(figure)
    if is_tie(first, last, figure) or not (best_value and values[last.name]):
        return ""
    ratio = values[last.name] / best_value
    rates = " against ".join(number(it.median(lambda r: r.achieved_rps)) for it in (last, first))
    bound = "at least " if experiment.headline.is_latency and last.is_cut_off else ""
    times = number(1 / ratio if experiment.more_is_better else ratio)
    return experiment.contrast.format(name=last.name, ratio=bound + times, rates=rates)


def _failed(compared: Sequence[Summary]) -> str:
    failed = [line.name for line in compared if not line.as_expected]
    return f"Failed: {_listed(failed)}." if failed else "All audits were as expected."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
