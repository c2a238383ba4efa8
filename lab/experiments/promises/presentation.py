"""Columns and verdict of what became of tasks."""

from collections.abc import Sequence
from functools import partial

from lab.experiments.promises.bare import FAULTS, QUIET_S
from lab.reporting.presentation import Column, Presentation, by_load_and_variant, extra
from lab.results.summary import Deliveries, Summary

UNFINISHED = Column(
    "not done", lambda r: (r.extra.get("cut_short") or 0.0) + (r.extra.get("never") or 0.0)
)


TEXTS = {
    "lost": "lost",
    "unsent": "not sent while the broker was away",
    "stuck": "left stuck",
    "again": "carried out again",
}
"""What became of tasks, in the verdict."""


class TasksSummary(Summary):
    """The runs of a bare queue, of which nobody expects that every post is delivered."""

    @property
    def deliveries(self) -> Deliveries:
        finished = all(result.audit is not None for result in self.results)
        return Deliveries.EXPECTED if finished else Deliveries.NOT_COMPARED

    @property
    def nothing(self) -> str:
        return super().nothing if self.deliveries is Deliveries.NOT_COMPARED else "0"


def _verdict(compared: Sequence[Summary]) -> str:
    """Name the queues that lost tasks, left some stuck, or did some again, over all faults."""
    names = dict.fromkeys(summary.variant.name for summary in compared)
    found = []
    for figure, text in TEXTS.items():
        counts = {
            name: sum(s.median(extra(figure)) or 0.0 for s in compared if s.variant.name == name)
            for name in names
        }
        which = [f"{name} ({count:,.0f})" for name, count in counts.items() if count]
        found.append(f"Tasks were {text} by {', '.join(which) or 'none'}.")
    return " ".join(found)


PRESENTATION = Presentation(
    columns=(
        Column("tasks", extra("tasks"), brief=True),
        Column("ran once", extra("once")),
        Column("ran again", extra("again"), brief=True),
        Column("cut short", extra("cut_short")),
        Column("never began", extra("never")),
        UNFINISHED,
        Column("stuck", extra("stuck"), brief=True),
        Column("lost tasks", extra("lost"), brief=True),
        Column("not sent", extra("unsent"), brief=True),
        Column("latest after s", extra("longest_s"), brief=True),
        Column("restarts", extra("restarts")),
    ),
    headline=UNFINISHED,
    heading="Tasks that were not done",
    findings=(),
    pictures=(),
    limitations=(
        "Tasks take 5 ms and note that they ran. Nobody asks for receipts, and nothing sweeps: "
        "with both, as always elsewhere, every queue delivers all (lab run faults).",
        f"What had not ended when no task had begun or ended for {QUIET_S} s is stuck if the queue "
        "still knows of it, else lost.",
        *(
            f"{name}: {fault.text} {f'{fault.times} times.' if fault.times > 1 else ''}".rstrip()
            for name, fault in FAULTS.items()
        ),
    ),
    summaries=partial(by_load_and_variant, kind=TasksSummary),
    verdict=_verdict,
)
