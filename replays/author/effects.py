"""Effects of single factors on a share, from pairs of runs that differ in nothing else."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

from replays.author.variants import Crossing

LABELS = {
    "max_connections": "max_connections",
    "buffer_pool_mib": "innodb_buffer_pool_size (MiB)",
    "flush": "innodb_flush_log_at_trx_commit",
    "debug": "DEBUG",
}


class Effect(NamedTuple):
    """The differences that one step of a factor makes, in the order of the pairs."""

    what: str
    """Name of the share."""
    factor: str
    before: float
    after: float
    by_repeat: Mapping[int, Sequence[float]]

    @property
    def differences(self) -> list[float]:
        return [difference for pairs in self.by_repeat.values() for difference in pairs]

    @property
    def mean(self) -> float:
        return fmean(self.differences)

    def __str__(self) -> str:
        low, high = min(self.differences), max(self.differences)
        step = f"{LABELS[self.factor]} {_level(self.before)} → {_level(self.after)}"
        text = (
            f"{step}: {100 * self.mean:+.1f} points of {self.what} on average of "
            f"{len(self.differences)} pairs that differ in nothing else "
            f"({100 * low:+.1f} … {100 * high:+.1f})"
        )
        means = [fmean(pairs) for pairs in self.by_repeat.values()]
        if len(means) > 1:
            text += (
                f"; by repeat {100 * min(means):+.1f} … {100 * max(means):+.1f} "
                f"({len(means)} repeats)"
            )
        return f"{text}."


def effects(runs: Sequence[tuple[int, Crossing, float]], what: str) -> list[Effect]:
    """Return the effects of the factors on a share, the largest first.

    ``runs``: (repeat, factors, share). With all levels crossed an effect is the difference between
    the means over the other factors' levels.
    """
    steps: defaultdict[tuple[str, float, float], defaultdict[int, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for (repeat, one, share), (other_repeat, other, other_share) in combinations(runs, 2):
        changed = [name for name in Crossing._fields if getattr(one, name) != getattr(other, name)]
        if repeat != other_repeat or len(changed) != 1:
            continue
        before, after = getattr(one, changed[0]), getattr(other, changed[0])
        difference = other_share - share
        if _turned(changed[0], before, after):
            before, after, difference = after, before, -difference
        steps[changed[0], before, after][repeat].append(difference)
    found = [Effect(what, *step, by_repeat) for step, by_repeat in steps.items()]
    return sorted(found, key=lambda effect: -abs(effect.mean))


def _turned(factor: str, before: float, after: float) -> bool:
    """Return whether a step goes back to the original setting: less, or DEBUG on."""
    return (before < after) if factor == "debug" else (before > after)


def _level(level: float) -> str:
    return {True: "on", False: "off"}[level] if isinstance(level, bool) else f"{level:g}"
