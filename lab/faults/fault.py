"""What a fault declares: what happens, what it needs, and what its control lacks."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from lab.faults.readers import Readers
from lab.faults.running import Running
from launch.variants import Variant

Inject = Callable[[Running, Readers], int]
Need = Callable[[Variant], bool]


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with a service under load, and is mended again."""

    name: str
    """What ``--loads`` calls it: the part and what happens to it, like redis-emptied."""
    text: str
    """What happens, in one line of the report."""
    inject: Inject
    """Let it happen once, and mend it; return how much was there to lose, in ``at_stake``.

    0 makes the moment void, and the run fails. Posts and readers go on meanwhile. Raises RunFailed
    if the moment never came.
    """
    at_stake: str
    """Unit of what ``inject`` returns, like "timelines" or "posts in flight"."""
    needs: tuple[Need, ...] = ()
    """What a variant must have for the fault to happen to it."""
    safeguard: str = ""
    """What ``lab.faults.unguarded`` takes out for the control, which has to find wrong pages,
    deliveries that are missing, duplicated or unexpected, or failures (``moments.failures``)."""
    control_needs: tuple[Need, ...] = ()
    """What a variant must have to be harmed without the safeguard."""
    no_control: str = ""
    """Why there is no safeguard to take out, where there is none."""
    refuses: bool = True
    """Requests may be refused while it lasts (503 or 429)."""
    typical_within_s: float = 0.5
    """Longest median time of the requests that are sent while it lasts: most are refused rather
    than kept waiting."""
    probes_within_s: float = 7.0
    """Longest time that a health probe may take: without a proxy it may wait until a thread has
    given up on a server (3 s, and 2 s for a new connection)."""
    hides_answers: bool = False
    """Clients may get no answer at all while it lasts, since what would answer is gone."""
    unavailable: Callable[[], str | None] = lambda: None
    """Return why this machine can't do it, as the end of a sentence; None if it can."""
    around: Callable[[Running], AbstractContextManager[Any]] = lambda _: nullcontext()
    """Return what surrounds all its moments and the drain, like a supervisor of workers. It yields
    nothing, or what is called after the drain and compares streams."""

    def suits(self, variant: Variant) -> bool:
        """Return whether it can happen to a variant."""
        return all(need(variant) for need in self.needs)

    def has_control(self, variant: Variant) -> bool:
        """Return whether a variant without the safeguard is harmed."""
        return bool(self.safeguard) and all(need(variant) for need in self.control_needs)


def fault(text: str, **declared: Any) -> Callable[[Inject], Fault]:
    """Make a fault of the function that injects it; ``declared`` are further fields of it.

    The function's name is the fault's, with hyphens.
    """

    def declare(inject: Inject) -> Fault:
        name = inject.__name__.replace("_", "-")
        return Fault(name, text, inject, **declared)

    return declare


in_one_redis: Need = attrgetter("keeps_timelines_in_one_redis")
in_cluster: Need = attrgetter("primaries")
with_queue: Need = attrgetter("uses_queue")
with_broker: Need = attrgetter("has_broker")
with_cache: Need = attrgetter("uses_redis")
"""Posts are cached."""
on_hosts: Need = attrgetter("on_hosts")
"""Its network can be cut (``launch.hosts``)."""


def on_server(variant: Variant) -> bool:
    """The database is a server's."""
    return variant.database.profile is not None


def keeps_commits(variant: Variant) -> bool:
    """The database is a server's, which loses no commit when it is killed."""
    return on_server(variant) and not variant.database.loses_commits


def on_mysql(variant: Variant) -> bool:
    return variant.database.engine == "mysql"


def without_queue(variant: Variant) -> bool:
    """Posts are delivered so often that a random moment is in the middle of it."""
    return not variant.uses_queue


def with_drainer(variant: Variant) -> bool:
    """A drainer runs, rather than a queue; it may deliver only what requests leave behind."""
    return variant.drains and not variant.uses_queue


def drainer_delivers(variant: Variant) -> bool:
    return with_drainer(variant) and not variant.strategy_flags.writes_with_post


def requests_deliver(variant: Variant) -> bool:
    """A process of the app server has something to lose."""
    flags = variant.strategy_flags
    return flags.needs_drainer and not flags.needs_shared_store
