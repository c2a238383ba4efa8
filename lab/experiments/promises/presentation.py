"""Columns and verdict of what became of tasks."""

from collections.abc import Sequence
from functools import partial

from lab.experiments.promises.bare import FAULTS, QUIET_S
from lab.reporting.presentation import Column, Presentation, by_load_and_variant, extra
from lab.results.summary import Deliveries, Summary

FORGOTTEN = Column(
    "lost or stuck", lambda r: (r.extra.get("lost") or 0.0) + (r.extra.get("stuck") or 0.0)
)


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
    """Name the queues that carried out all that was sent, in every run of every fault."""
    names = dict.fromkeys(summary.variant.name for summary in compared)
    failed = {
        summary.variant.name
        for summary in compared
        if any(FORGOTTEN.figure(result) for result in summary.results)
    }
    kept = ", ".join(name for name in names if name not in failed)
    return (
        f"Every task that was sent was carried out by {kept or 'none'}; "
        f"{len(failed)} of {len(names)} lost some or left some stuck."
    )


PRESENTATION = Presentation(
    columns=(
        Column("tasks", extra("tasks"), brief=True),
        Column("ran once", extra("once")),
        Column("ran again", extra("again"), brief=True),
        Column("cut short", extra("cut_short")),
        Column("never began", extra("never")),
        FORGOTTEN,
        Column("stuck", extra("stuck"), brief=True),
        Column("lost tasks", extra("lost"), brief=True),
        Column("not sent", extra("unsent"), brief=True),
        Column("latest after s", extra("longest_s"), brief=True),
        Column("restarts", extra("restarts")),
    ),
    headline=FORGOTTEN,
    heading="Tasks that the queue lost or left stuck",
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
