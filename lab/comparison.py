"""What the results of an experiment say when they are put side by side."""

from collections.abc import Iterable, Sequence

from lab.experiments import EXPERIMENTS
from lab.experiments.base import Experiment
from lab.line import Line
from lab.numbers import number
from lab.result import Result

ANSWERING = 0.9
"""What fails more of its requests is no measure for another's speed."""


def lines(results: Iterable[Result]) -> list[Line]:
    """Let each experiment make lines of its results."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.experiment, []).append(result)
    return [line for name, group in groups.items() for line in EXPERIMENTS[name].lines(group)]


def experiment_of(compared: Sequence[Line]) -> Experiment:
    return EXPERIMENTS[compared[0].results[0].experiment]


def ranked(compared: Sequence[Line]) -> list[Line]:
    """Return the clean variants under the heaviest load, the best first.

    Empty where the load generator was the limit of one of them: then the figures are Locust's.
    """
    experiment = experiment_of(compared)
    heaviest = [line for line in compared if line.load == compared[-1].load]
    clean = [line for line in heaviest if line.is_clean and line.held and line.variant.is_ranked]
    if not experiment.searches and any(line.generator_saturated for line in clean):
        return []
    return sorted(clean, key=experiment.rank)


def worst_audit(line: Line) -> dict[str, int] | None:
    """Return the audit that found most; None unless every run has one."""
    audits = [result.audit for result in line.results if result.audit is not None]
    if len(audits) < len(line.results):
        return None
    findings = experiment_of([line]).findings
    return max(audits, key=lambda audit: sum(audit[kind] for kind in findings))


def answer(compared: Sequence[Line]) -> str:
    """Say in two or three sentences what came out."""
    experiment, best = experiment_of(compared), ranked(compared)
    saturated = [line.name for line in compared if line.generator_saturated]
    if saturated and not experiment.searches:
        return (
            f"Not ranked: Locust itself was the limit of {_listed(saturated)}. Offer less, with "
            "fewer users."
        )
    if not best:
        has_limits = experiment.searches or any(not line.held for line in compared)
        within = ", within the limits" if has_limits else ""
        return f"No variant that delivers finished with a clean audit{within}. See what failed."
    said = (experiment.praise(best[0]), _rest(best, compared), experiment.beside(compared))
    return " ".join(filter(None, said))


def _rest(best: Sequence[Line], compared: Sequence[Line]) -> str:
    experiment = experiment_of(compared)
    failed = [line.name for line in compared if not line.as_expected]
    if failed:
        return f"Failed: {_listed(failed)}."
    answering = [line for line in best if (line.median(lambda r: r.success) or 0) > ANSWERING]
    figures = {
        line.name: line.median(experiment.headline.figure) or 0.0 for line in (best[0], *answering)
    }
    pick = min if experiment.more_is_better else max
    worst = pick(figures, key=figures.__getitem__)
    if worst == best[0].name or not all(figures.values()):
        return "Its audit was clean."
    ratio = figures[worst] / figures[best[0].name]
    ratio = 1 / ratio if experiment.more_is_better else ratio
    contrast = experiment.contrast.format(name=worst, ratio=number(ratio))
    return f"{contrast}; all audits were as expected."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
