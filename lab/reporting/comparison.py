"""Comparison of the variants of an experiment: ranking, ties, verdicts and the answer."""

from collections.abc import Sequence
from enum import StrEnum

from lab.experiments import EXPERIMENTS
from lab.experiments.base import Experiment
from lab.reporting.formats import few, number
from lab.reporting.page import Chip, Verdict
from lab.reporting.plots import colours_of
from lab.reporting.presentation import Published
from lab.results.result import Result
from lab.results.summary import Deliveries, Figures, Summary, is_tie
from lab.systems.variants import OutsideVariant

ANSWERING = 0.9
"""Variants with a smaller share of successful requests are not compared by speed."""
LOOKS: dict[StrEnum, tuple[str, str]] = {
    Deliveries.CLEAN: ("clean", ""),
    Deliveries.EXPECTED: ("clean", ""),
    Deliveries.LOST: (
        "lost",
        "the column audit says how much. No other figure there means anything",
    ),
    Deliveries.NOT_COMPARED: ("unknown", "it did not finish, or accepted nothing. Read its errors"),
    Figures.SOUND: ("clean", ""),
    Figures.SHARED: (
        "unknown",
        "other programs used the machine too. Rely on the deliveries alone",
    ),
    Figures.SHORT: ("short", "latencies with ≥ are lower bounds. Measure for longer (--run-time)"),
    Figures.INCONSISTENT: ("doubtful", "they break a law of every measurement. Run it again"),
    Figures.BUSY: (
        "doubtful",
        "other programs used it. End them, or add --shared to judge deliveries alone",
    ),
    Figures.NONE: ("unknown", ""),
}
"""The chip of a verdict, and what to do about it."""
UNCOMMITTED = Chip("lost", "Uncommitted changes")
REPEAT = "nobody can repeat it. Commit them, and measure again"


def experiment_of(results: Sequence[Result]) -> Experiment:
    """Return the experiment of results. Raises ValueError if they are of several."""
    names = sorted({result.experiment for result in results})
    if len(names) > 1:
        raise ValueError(f"compare results of one experiment: these have {', '.join(names)}")
    return EXPERIMENTS[names[0]]


class Comparison:
    """The summaries of an experiment's results, and what comes out of them."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = results
        self.experiment = experiment_of(results)
        self.presentation = self.experiment.presentation
        found = self.experiment.summaries(results)
        self.ranked = self._ranked(found)
        """The clean variants under the heaviest load that most variants had, the best first.

        Without those of which the load generator was the limit: they may be better than that.
        """
        self.verdict = self.presentation.verdict(found)
        """The answer of an experiment that doesn't look for the best variant."""
        self.summaries = found if self.verdict else self._in_order(found)
        """Load by load, those that are ranked first, the best on top."""
        self.colours = colours_of(self.summaries)
        """By the names of variants."""

    def _ranked(self, found: Sequence[Summary]) -> list[Summary]:
        loads = [summary.load for summary in found]
        heaviest = max(reversed(loads), key=loads.count)
        clean = [
            summary
            for summary in found
            if summary.load == heaviest
            and summary.is_clean
            and summary.can_be_compared
            and summary.variant.is_ranked
            and not self.presentation.is_limited(summary)
        ]
        return sorted(clean, key=self.presentation.rank)

    def _in_order(self, found: Sequence[Summary]) -> list[Summary]:
        loads = list(dict.fromkeys(summary.load for summary in found))
        rest = [summary for summary in found if summary not in self.ranked]
        return sorted([*self.ranked, *rest], key=lambda summary: loads.index(summary.load))

    @property
    def published(self) -> Sequence[Published]:
        """The published figures; none beside other loads or nothing but others' services."""
        is_ours = any(not isinstance(one.variant, OutsideVariant) for one in self.summaries)
        is_alike = self.presentation.is_published_load(self.summaries[-1].results[0])
        return self.presentation.published if is_ours and is_alike else ()

    @property
    def answer(self) -> str:
        """What came out, in two or three sentences."""
        shown, compared, best = self.presentation, self.summaries, self.ranked
        if self.verdict:
            return self.verdict
        unranked = self._unranked()
        if unranked and not best:
            return unranked
        if not best and any(one.is_clean and not one.figures.can_be_compared for one in compared):
            return (
                "Not ranked: what finished with a clean audit has no figures that can be compared."
            )
        if not best:
            return f"No variant {shown.condition}. See the errors."
        ranked = (shown.praise(best[0]), self._ties(), self._contrast(), shown.beside(compared))
        return " ".join(filter(None, (*ranked, unranked)))

    def _unranked(self) -> str:
        """Name the variants whose figures are Locust's."""
        limited = [one.name for one in self.summaries if self.presentation.is_limited(one)]
        if not limited:
            return ""
        return (
            f"Not ranked: Locust itself was the limit of {_listed(limited)}. Offer less, with "
            "fewer users."
        )

    def _ties(self) -> str:
        """Name the variants that the headline can't tell from the first."""
        shown, (first, *others) = self.presentation, self.ranked
        tied = [one.name for one in others if is_tie(first, one, shown.headline.figure)]
        if not tied:
            return ""
        why = f"; {shown.tie_break} put it first" if shown.tie_break else ""
        return f"By {shown.headline.label} it ties with {_listed(tied)}{why}."

    def _contrast(self) -> str:
        """Compare the first with the last of those that answer most requests, unless they tie."""
        shown, (first, *others) = self.presentation, self.ranked
        figure = shown.headline.figure
        answering = [one for one in others if (one.median(lambda r: r.success) or 0) > ANSWERING]
        values = {one.name: one.median(figure) or 0.0 for one in answering}
        pick = min if shown.more_is_better else max
        last = pick(answering, key=lambda one: values[one.name], default=first)
        best_value = first.median(figure)
        if is_tie(first, last, figure) or not (best_value and values[last.name]):
            return ""
        ratio = values[last.name] / best_value
        rates = [number(one.median(lambda r: r.achieved_rps)) for one in (last, first)]
        bound = "at least " if shown.headline.bound(last) else ""
        times = bound + number(1 / ratio if shown.more_is_better else ratio)
        return shown.contrast.format(name=last.name, ratio=times, rates=" against ".join(rates))

    @property
    def verdicts(self) -> list[Verdict]:
        """What became of deliveries, and what figures are worth, the worst first."""
        deliveries = [(one.name, one.deliveries) for one in self.summaries]
        figures = [(one.name, one.figures) for one in self.summaries]
        dirty = sorted({one.variant for one in self.results if one.is_dirty})
        return [
            _verdict("Deliveries", Deliveries, deliveries),
            _verdict("Figures", Figures, figures),
            *([Verdict("Code", [(UNCOMMITTED, f" in {few(dirty)}: {REPEAT}")])] if dirty else []),
        ]


def _verdict(about: str, values: type[StrEnum], found: Sequence[tuple[str, StrEnum]]) -> Verdict:
    by_value = []
    for value in reversed(values):
        names = [name for name, judged in found if judged is value]
        where = f" in {few(names)}" if len(names) < len(found) else ""
        if names:
            kind, advice = LOOKS[value]
            text = f"{where}: {advice}" if advice else where
            by_value.append((Chip(kind, value.capitalize()), text))
    return Verdict(about, by_value)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
