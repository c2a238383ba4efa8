"""Tries a command in the stages of the challenge; its verdict is text, a page, and JSON."""

import json
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.challenge.contestant import ROLE, Contestant
from lab.challenge.history import Contradiction
from lab.challenge.stages import STAGES, Failed, Stage
from lab.progress import console, stage
from lab.reporting.formats import number, where
from lab.reporting.page import Cell, Chip, Listing, Page, Table
from lab.running.machine import describe
from launch.processes import Processes, RunFailed

JSON, PAGE = "challenge.json", "challenge.html"
BUSY = 0.5
"""Mean load of the machine from which on rates are not fair."""


@dataclass
class Verdict:
    """What came out of a stage."""

    stage: int
    name: str
    passed: bool
    requests: int
    pages: int
    compared: int
    figures: Mapping[str, float]
    kinds: Mapping[str, int]
    """How many contradictions of each kind."""
    wrong: Sequence[str]
    """The first contradiction of each kind, in words."""
    took_s: float


def challenge(start: str, stages: Sequence[Stage], out: Path, empty: str | None = None) -> bool:
    """Try each stage on a fresh service, write the verdicts, and return whether it passed all."""
    facts = {
        "What was tried": start,
        "What empties its cache": empty or "not given",
        "When": datetime.now(UTC).isoformat(timespec="seconds"),
        "On": where([describe("lab challenge")]),
    }
    if (load := os.getloadavg()[0]) > BUSY:
        facts["Not fair"] = (
            f"the machine was busy (load {load:.1f}): stages 3, 5 and 6 ask for time"
        )
    verdicts = []
    for one in stages:
        verdict = try_stage(one, start, out, empty)
        verdicts.append(verdict)
        came_out = "passed" if verdict.passed else "NOT PASSED"
        console.print(f"{one.number} {one.name}: {came_out}, {verdict.took_s:.0f} s")
        for text in verdict.wrong:
            console.print(f"  {text}", markup=False, highlight=False)
    passed = all(verdict.passed for verdict in verdicts)
    not_tried = sorted({one.number for one in STAGES} - {one.number for one in stages})
    found = {
        "passed": passed,
        "not_tried": not_tried,
        "facts": facts,
        "stages": [asdict(verdict) for verdict in verdicts],
    }
    (out / JSON).write_text(json.dumps(found, indent=1) + "\n")
    page_of(facts, verdicts, not_tried).write(out / PAGE)
    return passed


def try_stage(one: Stage, start: str, out: Path, empty: str | None) -> Verdict:
    """Run a stage on a service of its own."""
    logs, began = out / f"{one.number}-{one.name}", time.monotonic()
    with TemporaryDirectory(prefix="lab-") as scratch, Processes(logs) as processes:
        service = Contestant(processes, start, Path(scratch), one.graph, empty)
        processes.at_exit(service.close)
        history, failed = service.history, list[Contradiction]()
        with stage(f"stage {one.number}: {one.text}"):
            try:
                service.start()
                one.run(service)
            except Failed as failure:
                failed.append(failure.contradiction)
            except RunFailed as error:
                failed.append(Contradiction("ended", str(error)))
        history.conclude()
    found = [*failed, *history.contradictions]
    if not found and not history.compared:
        found.append(Contradiction("nothing", "no page had to show a post"))
    kinds = Counter(contradiction.kind for contradiction in found)
    first = {contradiction.kind: contradiction for contradiction in reversed(found)}
    wrong = [f"{first[kind]}{f' ({n:,} times)' if n > 1 else ''}" for kind, n in kinds.items()]
    if found and (log := processes.log_tail(ROLE).splitlines()):
        wrong.append(f"the last line of {logs.name}/{ROLE}.log: {log[-1]}")
    return Verdict(
        one.number,
        one.name,
        passed=not found,
        requests=len(service.operations),
        pages=history.pages,
        compared=history.compared,
        figures={name: round(value, 3) for name, value in service.figures.items()},
        kinds=dict(kinds),
        wrong=wrong,
        took_s=round(time.monotonic() - began, 1),
    )


def page_of(
    facts: Mapping[str, str], verdicts: Sequence[Verdict], not_tried: Sequence[int]
) -> Page:
    text_of = {one.number: one.text for one in STAGES}
    rows: list[list[Cell]] = [
        [
            f"{verdict.stage} {verdict.name}",
            Chip("clean", "passed") if verdict.passed else Chip("lost", "not passed"),
            text_of[verdict.stage],
            f"{verdict.requests:,}",
            f"{verdict.compared:,}",
            f"{verdict.took_s:.0f}",
        ]
        for verdict in verdicts
    ]
    head = ("stage", "verdict", "what it asks for", "requests", "compared", "took s")
    figures: list[list[Cell]] = [
        [f"{verdict.stage} {verdict.name}", name, number(value)]
        for verdict in verdicts
        for name, value in verdict.figures.items()
    ]
    wrong = [
        Listing(f"Stage {verdict.stage}, what was wrong", verdict.wrong)
        for verdict in verdicts
        if verdict.wrong
    ]
    passed = sum(verdict.passed for verdict in verdicts)
    rest = f"; not tried: {', '.join(map(str, not_tried))}" if not_tried else ""
    return Page(
        title="Challenge",
        answer=f"{passed} of {len(STAGES)} stages passed{rest}.",
        facts=facts,
        parts=[
            Table("Stages", head, rows),
            *wrong,
            Table("What was measured", ("stage", "what", "figure"), figures),
        ],
        lesson="docs/challenge.md",
        files=(JSON,),
    )
