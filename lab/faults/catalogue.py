"""All faults by name, which is how ``--loads`` calls them; docs/faults.md has the same table."""

from lab.faults import cluster, database, queue, redis, slow, streams, timelines, workers
from lab.faults.fault import Fault

_ALL = [
    fault
    for module in (cluster, database, queue, redis, slow, streams, timelines, workers)
    for fault in vars(module).values()
    if isinstance(fault, Fault)
]
FAULTS = {fault.name: fault for fault in sorted(_ALL, key=lambda fault: fault.name)}
