"""Two runs side by side."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from lab.reporting import plots
from lab.reporting.comparison import experiment_of
from lab.reporting.formats import few, machine
from lab.reporting.page import Page, Picture
from lab.reporting.presentation import Column, Presentation
from lab.results.figures import interval_of_median
from lab.results.result import Figure, results_of
from lab.results.summary import ENOUGH_REPEATS, SAME, Summary, is_tie

MACHINE = ("cpu", "cpus", "memory_gib")
"""Facts that have to be equal for a comparison."""
LOAD = ("window_s", "offered_rps")
PAGE = "compare.html"
PICTURE = (
    "Of each variant the first run in grey and the second in colour, each the median of its runs. "
    "Thin lines: the 95 % interval of the median. A tie: the two can't be told apart by these runs."
)
TABLE = (
    "first → second (second ÷ first); the 95 % interval of the median in brackets. Of runs that "
    "took turns, the ratio is the median of the turns' ratios, with its interval."
)
BETTER, WORSE, TIE, NOTHING = "better", "worse", "a tie", "no figure"
NOT_COMPARED = "not compared, for their audits, laws or Locust"


class Pair(NamedTuple):
    """A variant under a load that both folders have."""

    before: Summary
    after: Summary

    @property
    def took_turns(self) -> bool:
        """Whether the n-th run of each was next to the other, so that the machine was the same."""
        one, other = (summary.results for summary in self)
        if len(one) != len(other) or len(one) < ENOUGH_REPEATS:
            return False
        turns = [sorted(run.started_at for run in turn) for turn in zip(one, other, strict=True)]
        return all(last < first for (_, last), (first, _) in pairwise(turns))

    def is_tie(self, figure: Figure) -> bool:
        if not (ratios := self.ratios(figure)):
            return is_tie(*self, figure)
        low, high = interval_of_median(ratios)
        return low <= 1 <= high or 1 / (1 + SAME) <= median(ratios) <= 1 + SAME

    def ratios(self, figure: Figure) -> list[float]:
        """Return second ÷ first of each turn; nothing if they took none, or a figure is missing."""
        one, other = self.before.values(figure), self.after.values(figure)
        if not self.took_turns or not len(one) == len(other) == len(self.before.results):
            return []
        return [new / old for old, new in zip(one, other, strict=True)] if all(one) else []

    def ratio(self, column: Column) -> str:
        """Return the second figure as a multiple of the first, or that they tie."""
        figure = column.figure
        old, new = self.before.median(figure), self.after.median(figure)
        if not old or new is None:
            return ""
        if ratios := self.ratios(figure):
            low, high = interval_of_median(ratios)
            if not 1 / (1 + SAME) <= low <= high <= 1 + SAME:
                tie = "tie, " if self.is_tie(figure) else ""
                return f"{tie}x {median(ratios):.3g}, {low:.3g} … {high:.3g}"
        return "tie" if self.is_tie(figure) else f"x {new / old:.3g}"

    def differences(self) -> Iterator[str]:
        """Yield how the machine or the load of the two differs."""
        one, other = self.before.results[0], self.after.results[0]
        for name in MACHINE:
            if (here := one.environment.get(name)) != (there := other.environment.get(name)):
                yield f"{name}: {here} and {there}"
        for name in LOAD:
            if (here := getattr(one, name)) != (there := getattr(other, name)):
                yield f"{self.before.name}, {name}: {here:g} and {there:g}"


def compare(first: Path, second: Path, *, anyway: bool) -> Path:
    """Print the variants that both folders have, figure by figure, and return a page of it.

    The page is compare.html in the second folder. Raises ValueError if a folder has no results, if
    they are of several experiments or share no variant, or if they are of unlike machines or loads
    and not asked to compare ``anyway``.
    """
    one, other = results_of(first), results_of(second)
    experiment = experiment_of([*one, *other])
    others = {summary.name: summary for summary in experiment.summaries(other)}
    summaries = experiment.summaries(one)
    pairs = [Pair(one, others[one.name]) for one in summaries if one.name in others]
    if not pairs:
        raise ValueError(f"{first} and {second} share no variant")
    unlike = "; ".join(dict.fromkeys(what for pair in pairs for what in pair.differences()))
    if unlike and not anyway:
        raise ValueError(f"the runs differ ({unlike}); --anyway compares them")
    shown = experiment.presentation
    verdicts = [_verdict(pair, shown) for pair in pairs]
    page = Page(
        title="Two runs side by side",
        answer=_answer(pairs, verdicts, shown),
        facts={
            "What was compared": (
                f"{first} → {second}: {len(pairs)} pairs of a variant and a load that both have."
            ),
            "The first, on": _machine([pair.before for pair in pairs]),
            "The second, on": _machine([pair.after for pair in pairs]),
            "What to do with it": _advice(pairs, verdicts, unlike),
        },
        parts=[
            Picture(shown.heading, PICTURE, plots.bars(_bars(pairs, shown.headline))),
            shown.table([_row(pair, shown) for pair in pairs], TABLE),
        ],
    )
    page.show()
    return page.write(second / PAGE)


def _machine(compared: Sequence[Summary]) -> str:
    return machine([result.environment for summary in compared for result in summary.results])


def _bars(pairs: Sequence[Pair], column: Column) -> list[plots.Bar]:
    """Return a grey bar for the first, and one in colour with the change for the second."""
    bars, column = [], column._replace(spread=False)
    for pair in pairs:
        before, after = map(column.cell, pair)
        change = pair.ratio(column)
        after += f" ({change})" if change else ""
        bars.append(plots.bar_of(pair.before, column.figure, plots.GREY, before))
        bars.append(plots.bar_of(pair.after, column.figure, plots.SERIES[0], after, "second"))
    return bars


def _row(pair: Pair, shown: Presentation) -> list[str]:
    """Return the figures of both, with their ratios or that they tie."""
    verdicts = (tuple(map(shown.audit, pair)), tuple(one.figures for one in pair))
    row = [pair.before.name]
    row += [after if before == after else f"{before} → {after}" for before, after in verdicts]
    for column in shown.columns:
        before, after = map(column.cell, pair)
        ratio = pair.ratio(column)
        row.append(f"{before} → {after}" + (f" ({ratio})" if ratio else ""))
    return row


def _answer(pairs: Sequence[Pair], verdicts: Sequence[str], shown: Presentation) -> str:
    """Tell by the headline which variants are better in the second folder, and which are worse."""
    found: dict[str, list[str]] = {}
    for pair, verdict in zip(pairs, verdicts, strict=True):
        found.setdefault(verdict, []).append(pair.before.name)
    kinds = (BETTER, WORSE, TIE, NOTHING, NOT_COMPARED)
    listed = ". ".join(f"{kind}: {few(found[kind])}" for kind in kinds if kind in found)
    return f"By {shown.headline.label}, in the second folder: {listed}."


def _verdict(pair: Pair, shown: Presentation) -> str:
    if any(shown.is_limited(one) or not one.can_be_compared for one in pair):
        return NOT_COMPARED
    figure = shown.headline.figure
    old, new = pair.before.median(figure), pair.after.median(figure)
    if old is None or new is None:
        return NOTHING
    if pair.is_tie(figure):
        return TIE
    ratios = pair.ratios(figure)
    is_more = median(ratios) > 1 if ratios else new > old
    return BETTER if is_more == shown.more_is_better else WORSE


def _advice(pairs: Sequence[Pair], verdicts: Sequence[str], unlike: str) -> str:
    if unlike:
        return f"Don't conclude anything: the runs differ ({unlike})."
    wrong = sorted({one.name for pair in pairs for one in pair if not one.can_be_compared})
    if wrong:
        return f"Read the audits and errors of {', '.join(wrong)} first."
    if set(verdicts) == {TIE}:
        return "Keep what is simpler: a tie proves no difference."
    if any(len(one.results) < ENOUGH_REPEATS for pair in pairs for one in pair):
        return "Repeat both with --repeat 3 before you rely on a difference."
    if all(pair.took_turns for pair in pairs):
        return "They took turns: rely on a ratio whose interval leaves out 1."
    return "Let both take turns before you rely on a difference: machines change over time."
