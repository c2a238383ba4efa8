"""Small runs of the laboratory, on real servers."""

import json
from typing import Any, NamedTuple

from lab.__main__ import main


class Run(NamedTuple):
    status: int
    """Exit status of the laboratory."""
    result: dict[str, Any]
    report: str

    @property
    def is_clean(self) -> bool:
        """Whether deliveries are as they should be; figures of seconds may well be unsound (3)."""
        return self.status in (0, 3)


def run(out, experiment, *options):
    """Run one variant of an experiment under one load."""
    status = main(["run", experiment, "--shared", *options, f"--out={out}"])
    (result,) = out.glob("*/result.json")
    return Run(status, json.loads(result.read_text()), (out / "report.md").read_text())
