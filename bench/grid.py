"""All cells of a grid, and the check of what they delivered."""

from collections.abc import Sequence

import numpy as np

from bench.contents import begin, check, empty
from bench.engine import Engine
from bench.graphs import Graph
from bench.json_lines import emit


def run_graph(engine: Engine, graph: Graph, batches: Sequence[int]) -> bool:
    """Report each cell and the check; return whether all timelines were right."""
    empty(engine.timeline)
    begin(engine.timeline, np.arange(1, graph.people + 1))
    engine.forget()
    where = {"people": graph.people, "friends": graph.friends}
    for batch in sorted(batches):
        emit("cell", **where, batch=batch, **engine.cell(graph, batch))
    found = check(engine.timeline, graph, engine.delivered)
    emit("check", **where, **found.as_dict())
    return found.ok
