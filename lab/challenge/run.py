"""Tries a command in the stages of the challenge; its verdict is text, a page, and JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.challenge.contestant import Contestant
from lab.challenge.history import Contradiction
from lab.challenge.stages import STAGES, Failed, Stage
from lab.progress import console, stage
from lab.reporting.formats import number
from lab.reporting.page import Cell, Chip, Listing, Page, Table
from launch.processes import Processes, RunFailed

JSON, PAGE = "challenge.json", "challenge.html"
EXAMPLES = 5
"""Contradictions that are shown of a stage."""


@dataclass
class Verdict:
    """What came out of a stage."""

    stage: int
    name: str
    passed: bool
    requests: int = 0
    pages: int = 0
    compared: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many contradictions of each kind."""
    wrong: Sequence[str] = ()
    """The first contradictions, in words."""


def challenge(start: str, stages: Sequence[Stage], out: Path, empty: str | None = None) -> bool:
    """Try each stage on a fresh service, write the verdicts, and return whether it passed all."""
    verdicts = []
    for one in stages:
        verdict = try_stage(one, start, out, empty)
        verdicts.append(verdict)
        console.print(f"{one.number} {one.name}: {'passed' if verdict.passed else 'NOT PASSED'}")
        for text in verdict.wrong:
            console.print(f"  {text}", markup=False, highlight=False)
    passed = all(verdict.passed for verdict in verdicts)
    found = {"start": start, "passed": passed, "stages": [asdict(it) for it in verdicts]}
    (out / JSON).write_text(json.dumps(found, indent=1) + "\n")
    page_of(start, verdicts).write(out / PAGE)
    return passed


def try_stage(one: Stage, start: str, out: Path, empty: str | None) -> Verdict:
    """Run a stage on a service of its own."""
    logs = out / f"{one.number}-{one.name}"
    with TemporaryDirectory(prefix="lab-") as scratch, Processes(logs) as processes:
        service = Contestant(processes, start, Path(scratch), one.graph, empty)
        processes.at_exit(service.close)
        history, failed = service.history, list[Contradiction]()
        figures: Mapping[str, float] = {}
        with stage(f"stage {one.number}: {one.text}"):
            try:
                service.start()
                figures = one.run(service)
            except Failed as failure:
                failed.append(failure.contradiction)
            except RunFailed as error:
                failed.append(Contradiction("ended", str(error)))
        history.conclude()
    found = [*failed, *history.contradictions]
    kinds = [contradiction.kind for contradiction in found]
    if not found and not history.compared:
        found.append(Contradiction("nothing", "no page had to show a post"))
    return Verdict(
        one.number,
        one.name,
        passed=not found,
        requests=len(service.operations),
        pages=history.pages,
        compared=history.compared,
        figures=figures,
        kinds={kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        wrong=[str(contradiction) for contradiction in _examples(found)],
    )


def _examples(found: Sequence[Contradiction]) -> list[Contradiction]:
    """Return the first contradictions, one of each kind before the others."""
    first = {one.kind: one for one in reversed(found)}.values()
    return [*reversed(first), *(one for one in found if one not in first)][:EXAMPLES]


def page_of(start: str, verdicts: Sequence[Verdict]) -> Page:
    passed = [verdict for verdict in verdicts if verdict.passed]
    text_of = {one.number: one.text for one in STAGES}
    rows: list[list[Cell]] = [
        [
            f"{verdict.stage} {verdict.name}",
            Chip("clean", "passed") if verdict.passed else Chip("lost", "not passed"),
            text_of[verdict.stage],
            f"{verdict.requests:,}",
            f"{verdict.compared:,}",
            ", ".join(
                f"{key.replace('_', ' ')} {number(it)}" for key, it in verdict.figures.items()
            ),
        ]
        for verdict in verdicts
    ]
    head = ("stage", "verdict", "what it asks for", "requests", "compared", "measured")
    wrong = [
        Listing(f"Stage {verdict.stage}, what was wrong", verdict.wrong)
        for verdict in verdicts
        if verdict.wrong
    ]
    return Page(
        title="Challenge",
        answer=f"{len(passed)} of {len(verdicts)} stages passed.",
        facts={"What was tried": start},
        parts=[Table("Stages", head, rows), *wrong],
        lesson="docs/challenge.md",
        files=(JSON,),
    )
