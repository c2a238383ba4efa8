"""Two runs side by side."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.reporting import plots
from lab.reporting.comparison import presentation_of, summaries
from lab.reporting.formats import few
from lab.reporting.machine import machine
from lab.reporting.page import Page, Picture
from lab.reporting.presentation import Column
from lab.reporting.table import Table
from lab.reporting.tables import audit, brief, cell, labels
from lab.results.result import results_of
from lab.results.summary import ENOUGH_REPEATS, Summary, is_tie

MACHINE = ("cpu", "cpus", "memory_gib")
"""Facts that have to be equal for a comparison."""
LOAD = ("window_s", "offered_rps")
PAGE = "compare.html"
PICTURE = (
    "Of each variant the first run in grey and the second in colour, each the median of its runs. "
    "Thin lines: the smallest and the largest. A tie: the two can't be told apart by these runs."
)
TABLE = "first → second (second ÷ first); the smallest and the largest of several runs in brackets."
BETTER, WORSE, TIE, NOTHING = "better", "worse", "a tie", "no figure"
NOT_COMPARED = "not compared, for their audits, laws or Locust"

Pair = tuple[Summary, Summary]


class TwoRuns(NamedTuple):
    first: Path
    second: Path
    pairs: Sequence[Pair]
    """The variants that both folders have."""
    unlike: Sequence[str]
    """Why their figures should not be compared."""


def compare(first: Path, second: Path, *, anyway: bool) -> Path:
    """Print the variants that both folders have, figure by figure, and return a page of it.

    The page is compare.html in the second folder. Raises ValueError if a folder has no results, if
    they are of several experiments or share no variant, or if they are of unlike machines or loads
    and not asked to compare ``anyway``.
    """
    runs = _read_both(first, second)
    if runs.unlike and not anyway:
        raise ValueError(f"the runs differ ({'; '.join(runs.unlike)}); --anyway compares them")
    page = _page(runs)
    page.show()
    return page.write(second / PAGE)


def _read_both(first: Path, second: Path) -> TwoRuns:
    one, other = results_of(first), results_of(second)
    experiments = sorted({result.experiment for result in (*one, *other)})
    if len(experiments) > 1:
        raise ValueError(f"compare folders of one experiment: these have {', '.join(experiments)}")
    others = {summary.name: summary for summary in summaries(other)}
    pairs = [(a, others[a.name]) for a in summaries(one) if a.name in others]
    if not pairs:
        raise ValueError(f"{first} and {second} share no variant")
    unlike = list(dict.fromkeys(difference for pair in pairs for difference in _unlike(*pair)))
    return TwoRuns(first, second, pairs, unlike)


def _page(runs: TwoRuns) -> Page:
    shown = presentation_of(runs.pairs[0])
    rows = [_cells(pair, shown.columns) for pair in runs.pairs]
    table = Table("All figures", labels(shown.columns), rows, TABLE, brief(shown.columns))
    changes = [bar for pair in runs.pairs for bar in _bars(pair, shown.headline)]
    return Page(
        title="Two runs side by side",
        answer=_answer(runs),
        facts={
            "What was compared": (
                f"{runs.first} → {runs.second}: {len(runs.pairs)} pairs of a variant and a load "
                "that both have."
            ),
            "The first, on": _machine([first for first, _ in runs.pairs]),
            "The second, on": _machine([second for _, second in runs.pairs]),
            "What to do with it": _advice(runs),
        },
        parts=[Picture(shown.heading, PICTURE, plots.bars(changes)), table],
    )


def _machine(compared: Sequence[Summary]) -> str:
    return machine([result.environment for summary in compared for result in summary.results])


def _bars(pair: Pair, column: Column) -> list[plots.Bar]:
    """Return a grey bar for the first, and one in colour with the change for the second."""
    before, after = (cell(one, column._replace(spread=False)) for one in pair)
    change = _ratio(*pair, column)
    after += f" ({change})" if change else ""
    return [
        plots.bar_of(pair[0], column.figure, plots.GREY, before),
        plots.bar_of(pair[1], column.figure, plots.SERIES[0], after, "second"),
    ]


def _answer(runs: TwoRuns) -> str:
    """Tell by the headline which variants are better in the second folder, and which are worse."""
    found: dict[str, list[str]] = {}
    for pair in runs.pairs:
        found.setdefault(_verdict(*pair), []).append(pair[0].name)
    kinds = (BETTER, WORSE, TIE, NOTHING, NOT_COMPARED)
    listed = "; ".join(f"{kind}: {few(found[kind])}" for kind in kinds if kind in found)
    headline = presentation_of(runs.pairs[0]).headline.label
    return f"By {headline}, in the second folder: {listed}."


def _verdict(before: Summary, after: Summary) -> str:
    shown = presentation_of([before])
    saturated = before.generator_saturated or after.generator_saturated
    if not (before.can_be_compared and after.can_be_compared):
        return NOT_COMPARED
    if saturated and not shown.measures_generator:
        return NOT_COMPARED
    old, new = before.median(shown.headline.figure), after.median(shown.headline.figure)
    if old is None or new is None:
        return NOTHING
    if is_tie(before, after, shown.headline.figure):
        return TIE
    return BETTER if (new > old) == shown.more_is_better else WORSE


def _advice(runs: TwoRuns) -> str:
    if runs.unlike:
        return f"Don't conclude anything: the runs differ ({'; '.join(runs.unlike)})."
    wrong = sorted({one.name for pair in runs.pairs for one in pair if not one.can_be_compared})
    if wrong:
        return f"Read the audits and errors of {', '.join(wrong)} first."
    if all(_verdict(*pair) == TIE for pair in runs.pairs):
        return "Keep what is simpler: a tie proves no difference."
    if any(len(one.results) < ENOUGH_REPEATS for pair in runs.pairs for one in pair):
        return "Repeat both with --repeat 3 before you rely on a difference."
    return "Run both in one session before you rely on a difference: machines change over time."


def _cells(pair: Pair, columns: Sequence[Column]) -> list[str]:
    verdicts = (tuple(map(audit, pair)), tuple(one.figures for one in pair))
    changed = (after if before == after else f"{before} → {after}" for before, after in verdicts)
    return [pair[0].name, *changed, *(_change(*pair, column) for column in columns)]


def _change(before: Summary, after: Summary, column: Column) -> str:
    """Write a figure of both runs, and their ratio or that they tie."""
    figures = f"{cell(before, column)} → {cell(after, column)}"
    ratio = _ratio(before, after, column)
    return f"{figures} ({ratio})" if ratio else figures


def _ratio(before: Summary, after: Summary, column: Column) -> str:
    old, new = before.median(column.figure), after.median(column.figure)
    if not old or new is None:
        return ""
    return "tie" if is_tie(before, after, column.figure) else f"x {new / old:.3g}"


def _unlike(before: Summary, after: Summary) -> Iterator[str]:
    """Yield how the machine or the load of a pair differs."""
    one, other = before.results[0], after.results[0]
    for name in MACHINE:
        if (here := one.environment.get(name)) != (there := other.environment.get(name)):
            yield f"{name}: {here} and {there}"
    for name in LOAD:
        if (here := getattr(one, name)) != (there := getattr(other, name)):
            yield f"{before.name}, {name}: {here:g} and {there:g}"
