"""All interleavings of a few processes around one timeline: two people, three posts."""

import os
from typing import Any, NamedTuple

import pytest

from feed.timeline_stores.rule import Timeline, new_version

POSTS = (1, 2, 3)
NEVER_TRIMMED = 10
LOADED = 2


class Version(int):
    """A version in a world; ``numbered`` finds them by this class."""


class World(NamedTuple):
    timeline: Any = None
    """version, seal, floor, ids; None: absent."""
    log: tuple = ()
    """Of the store ``log``: ids that are in no ring yet."""
    cut: Any = Version(0)
    """Changes when the log is cut."""
    committed: frozenset = frozenset()
    received: frozenset = frozenset()
    friends: bool = True
    changing: bool = False
    work: tuple = ()
    """Of each process the step that is next, and what it remembers; None when it has ended."""

    def newest(self):
        return max(self.committed, default=0)

    def due(self):
        return sorted(self.committed, reverse=True) if self.friends else []


class Scope:
    """The processes of a scope, and a search through all their interleavings."""

    def __init__(self, *, work, capacity=NEVER_TRIMMED, friends=True, whole=False):
        self.work, self.capacity = work, capacity
        groups = [[n for n, other in enumerate(work) if other == steps] for steps in work]
        self._alike = [numbers for numbers in groups if len(numbers) > 1]
        self.start = World(
            timeline=(Version(0), 0, 0, ()) if whole else None,
            friends=friends,
            work=tuple((0, None) for _ in work),
        )

    def explore(self):
        """Return the number of states, each of which has been checked."""
        seen, waiting = {self.start}, [self.start]
        while waiting:
            world = waiting.pop()
            check(world)
            for number, state in enumerate(world.work):
                if state is None:
                    continue
                after = self._step(world, number, *state)
                if after is not None:
                    after = numbered(self._in_order(after))
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
        return len(seen)

    def _in_order(self, world):
        """Sort the states of processes that do the same: which of them did what doesn't matter."""
        work = list(world.work)
        for numbers in self._alike:
            states = sorted((work[number] for number in numbers), key=hash)
            for number, state in zip(numbers, states, strict=True):
                work[number] = state
        return world._replace(work=tuple(work))

    def _step(self, world, number, step, memory):
        steps = self.work[number]
        done = steps[step](self, world, memory)
        if done is None:
            return None  # it can't go on yet
        world, memory = done
        state = (step + 1, memory) if step + 1 < len(steps) else None
        work = (*world.work[:number], state, *world.work[number + 1 :])
        return world._replace(work=work)


def acting(world, act):
    """Let something happen to the timeline."""
    timeline = act(kept(world))
    held = (Version(timeline.version), timeline.seal, timeline.floor, tuple(timeline.ids))
    return world._replace(timeline=held)


def kept(world):
    if world.timeline is None:
        return None
    timeline = Timeline()
    timeline.version, timeline.seal, timeline.floor, ids = world.timeline
    timeline.ids = list(ids)
    return timeline


def seen(world):
    """Return the timeline that a reader sees: with what the log holds."""
    timeline = kept(world)
    if timeline and world.log:
        timeline.see(world.log)
    return timeline


def numbered(world):
    """Number the versions in the order of their appearance, so that worlds can be compared."""
    numbers = {}

    def number(value):
        if isinstance(value, Version):
            return numbers.setdefault(value, Version(len(numbers)))
        return tuple(map(number, value)) if type(value) is tuple else value

    return world._replace(
        timeline=number(world.timeline), cut=number(world.cut), work=number(world.work)
    )


def check(world):
    timeline = seen(world)
    if timeline is None:
        return
    floor, ids = timeline.floor, timeline.ids
    may = world.committed if world.friends or world.changing else set()
    must = world.received if world.friends and not world.changing else set()
    assert ids == sorted(set(ids))
    assert set(ids) <= may
    oldest = min(ids, default=None) if floor != 0 else 0
    if floor is not None and oldest is not None:
        assert {post_id for post_id in must if post_id >= oldest} <= set(ids)


# The steps of processes: each returns the world and what the process remembers.


def commit(post_id):
    return (lambda scope, world, _: (world._replace(committed=world.committed | {post_id}), None),)


def claim(scope, world, _):
    posts = world.committed - world.received
    return (world, (posts, posts if world.friends else frozenset())) if posts else None


def write(scope, world, memory):
    posts, due = memory
    if not due:
        return world, (posts, None, None)

    def act(timeline):
        timeline = timeline or Timeline()
        timeline.deliver(sorted(due), scope.capacity)
        return timeline

    world = acting(world, act)
    pending = world.timeline[0] if world.timeline[2] is None else None
    return world, (posts, pending, None)


def ask_newest(scope, world, memory):
    posts, pending, _ = memory
    return world, (posts, pending, world.newest())


def activate(scope, world, memory):
    posts, pending, newest = memory
    if pending is not None and world.timeline is not None:
        world = acting(world, lambda timeline: timeline.activate(pending, newest) or timeline)
    return world, posts


def receive(scope, world, posts):
    return world._replace(received=world.received | posts), None


def change(scope, world, _):
    return world._replace(friends=not world.friends, changing=True), None


def newest_after(scope, world, _):
    return world, world.newest()


def apply_change(scope, world, newest):
    if world.timeline is not None:
        world = acting(world, lambda timeline: timeline.change(newest) or timeline)
    return world, None


def acknowledge(scope, world, _):
    return world._replace(changing=False), None


def append(scope, world, memory):
    posts, due = memory
    return world._replace(log=(*world.log, *sorted(due))), posts


def read_log(scope, world, _):
    return (world, (world.cut, world.log)) if world.log else None


def compact(scope, world, memory):
    cut, log = memory
    if world.cut != cut:
        return world, (None, None, None)
    world, remembered = write(scope, world, (None, set(log)))
    return world._replace(log=world.log[len(log) :], cut=Version(new_version())), remembered


def lose(scope, world, _):
    return world._replace(timeline=None), None


def lose_log(scope, world, _):
    """Lose the log, and with its generation the ring."""
    return world._replace(timeline=None, log=(), cut=Version(new_version())), None


def look(scope, world, _):
    if world.timeline is None or world.timeline[2] is None:
        world = acting(world, lambda timeline: timeline or Timeline())
        return world, (world.timeline[0], None)
    return world, (world.timeline[0], seen(world).floor)


def look_for_newest(scope, world, memory):
    version, floor = memory
    return world, (version, world.newest() if floor is None else floor)


def ask_database(scope, world, memory):
    return world, (*memory, tuple(world.due()[:LOADED]))


def load(scope, world, memory):
    version, through, due = memory
    floor = 0 if len(due) < LOADED else min(due[-1] - 1, through)
    ids = [post_id for post_id in reversed(due) if post_id <= through]
    if world.timeline is not None:
        world = acting(
            world, lambda timeline: timeline.load(version, through, floor, ids) or timeline
        )
    return world, None


DELIVERY = (claim, write, ask_newest, activate, receive)
CHANGE = (change, newest_after, apply_change, acknowledge)
LOSS = (lose,)
LOGGED = (claim, append, receive)
COMPACTION = (read_log, compact, ask_newest, activate)
LOSS_OF_LOG = (lose_log,)
LOAD = (look, look_for_newest, ask_database, load)
COMMITS = tuple(commit(post_id) for post_id in POSTS)
TWO = COMMITS[:2]
SCOPES = {
    "a loss": Scope(work=[*TWO, DELIVERY, LOAD, LOAD, LOSS]),
    "trims": Scope(work=[*TWO, DELIVERY, DELIVERY, LOAD], capacity=1),
    "an unfriend": Scope(work=[*TWO, DELIVERY, DELIVERY, CHANGE, LOAD]),
    "a befriend": Scope(work=[*TWO, DELIVERY, DELIVERY, CHANGE, LOAD], friends=False),
    "a log": Scope(work=[*TWO, LOGGED, COMPACTION, LOAD, LOSS_OF_LOG]),
    "a log, a late post": Scope(work=[*COMMITS, LOGGED, LOAD, LOAD]),
    "two compactions": Scope(work=[*TWO, LOGGED, LOGGED, COMPACTION, COMPACTION], whole=True),
    "a log, trims": Scope(work=[*TWO, LOGGED, LOGGED, COMPACTION, LOAD], capacity=1),
    "a log, an unfriend": Scope(work=[*TWO, LOGGED, LOGGED, COMPACTION, CHANGE, LOAD]),
    "a log, a befriend": Scope(
        work=[*TWO, LOGGED, LOGGED, COMPACTION, CHANGE, LOAD], friends=False
    ),
}
WIDE = {
    "a log, all": Scope(work=[*TWO, LOGGED, LOGGED, COMPACTION, COMPACTION, LOAD, LOSS_OF_LOG]),
    "a loss and two loads": Scope(work=[*TWO, DELIVERY, DELIVERY, LOAD, LOAD, LOSS]),
    "an unfriend, a loss": Scope(work=[*COMMITS, DELIVERY, DELIVERY, CHANGE, LOAD, LOSS]),
    "a befriend, a loss": Scope(
        work=[*COMMITS, DELIVERY, DELIVERY, CHANGE, LOAD, LOSS], friends=False
    ),
}
"""Minutes each; HEALING_WIDE=1 checks them too."""
if os.environ.get("HEALING_WIDE"):
    SCOPES |= WIDE
SMALLEST_FIRST = ["a log", "a log, a late post", "trims", "a log, an unfriend", *SCOPES]


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_no_interleaving_shows_a_wrong_page(scope):
    assert scope.explore() > 1000


def without_seal(timeline, new, capacity):
    timeline.seal = 0
    DELIVER(timeline, new, capacity)


def activated_from_the_start(timeline, new, capacity):
    if timeline.floor is None:
        timeline.floor = timeline.seal = 0
    DELIVER(timeline, new, capacity)


def activated_with_any_version(timeline, version, through):
    ACTIVATE(timeline, timeline.version, through)


def loaded_with_any_version(timeline, version, through, floor, ids):
    if timeline.floor is not None:
        timeline.ids = [post_id for post_id in timeline.ids if post_id > through]
    LOAD_IDS(timeline, timeline.version, through, floor, ids)


def loaded_with_the_first_half(timeline, version, through, floor, ids):
    LOAD_IDS(timeline, version, through, floor, ids[: len(ids) // 2])


def with_the_same_version(timeline, new, capacity):
    version = timeline.version
    DELIVER(timeline, new, capacity)
    timeline.version = version


def trimmed_without_a_floor(timeline, new, capacity):
    floor = timeline.floor
    DELIVER(timeline, new, capacity)
    timeline.floor = floor


def unchanged(timeline, through):
    pass


def seen_without_seal(timeline, logged):
    timeline.ids = sorted({*timeline.ids, *logged} - set(range((timeline.floor or 0) + 1)))


DELIVER, ACTIVATE, LOAD_IDS = Timeline.deliver, Timeline.activate, Timeline.load


@pytest.mark.parametrize(
    ("method", "faulty"),
    [
        ("deliver", without_seal),
        ("deliver", activated_from_the_start),
        ("deliver", with_the_same_version),
        ("deliver", trimmed_without_a_floor),
        ("activate", activated_with_any_version),
        ("load", loaded_with_any_version),
        ("load", loaded_with_the_first_half),
        ("change", unchanged),
        ("see", seen_without_seal),
    ],
)
def test_without_a_safeguard_some_interleaving_does(method, faulty, monkeypatch):
    monkeypatch.setattr(Timeline, method, faulty)

    assert any(is_wrong(SCOPES[name]) for name in SMALLEST_FIRST)


def compacted_whatever_was_cut(scope, world, memory):
    return compact(scope, world, (world.cut, memory[1]))


def only_the_log_lost(scope, world, _):
    return world._replace(log=()), None


@pytest.mark.parametrize(
    ("name", "step", "faulty"),
    [
        ("two compactions", compact, compacted_whatever_was_cut),
        ("a log", lose_log, only_the_log_lost),
    ],
)
def test_a_log_needs_its_cut_and_its_generation(name, step, faulty):
    work = [[faulty if own is step else own for own in steps] for steps in SCOPES[name].work]

    assert is_wrong(Scope(work=work, whole=True))


def is_wrong(scope):
    try:
        scope.explore()
    except AssertionError:
        return True
    return False
