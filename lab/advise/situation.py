"""Whom the advice is for."""

import argparse
import csv
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path

from lab import load_calculator


@dataclass(frozen=True)
class Situation:
    """The people, their load at the peak, and what may be bought."""

    people: int
    followers: float
    """Readers of a post besides its author, mean; friends are followers and followed alike."""
    following: float
    """Authors whom a reader follows, mean."""
    largest: int
    """Followers of the person who has most."""
    posts_per_s: float
    reads_per_post: float
    active: float = 1
    """Share of the people who come (0 … 1); nothing is delivered to the others."""
    lag_ms: float = 1_000
    """Budget: from the post until all readers see it."""
    kept: int = 800
    """Entries per timeline."""
    busy: float = 0.5
    """Share of a core that may be busy at the peak (0 … 1)."""
    database_cores: float = 16
    """Of the largest database server."""
    node_gib: float = 25
    """Memory of a primary of a Redis Cluster."""

    def __post_init__(self) -> None:
        for name in ("active", "busy"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"--{name} must be above 0 and at most 1")
        if min(self.followers, self.following) < 1:
            raise ValueError(
                "people need 1 friend or more in the mean, or 1 follower and 1 followed"
            )
        if self.largest < self.followers:
            raise ValueError(f"--largest must be {ceil(self.followers):,} or more, the mean")
        if self.people <= self.largest:
            raise ValueError(f"--people must be above {self.largest:,}, the readers of one person")
        if not isfinite(self.reads_per_post) or self.reads_per_post < 0:
            raise ValueError("--reads-per-post must be 0 or more")

    @property
    def readers(self) -> float:
        """Timelines that are kept."""
        return self.people * self.active

    @property
    def recipients(self) -> float:
        """Deliveries per post, without the author's own."""
        return self.followers * self.active

    @property
    def deliveries_per_s(self) -> float:
        return self.posts_per_s * (self.recipients + 1)

    @property
    def reads_per_s(self) -> float:
        return self.posts_per_s * self.reads_per_post


def situation_of(options: argparse.Namespace) -> Situation:
    """Return what the command line says. Raises ValueError."""
    one_way = (options.followers, options.following)
    if options.degrees and any((options.friends, *one_way, options.largest)):
        raise ValueError("--degrees says what --friends and --largest would: leave them out")
    if options.degrees:
        people, friends, largest = degrees(options.degrees)
        one_way = (friends, friends)
    else:
        if options.friends and not any(one_way):
            one_way = (options.friends, options.friends)
        elif options.friends or not all(one_way):
            raise ValueError("--people needs --friends, or --followers and --following")
        people, largest = options.people, options.largest or ceil(one_way[0])
    posts_per_s, reads = options.posts_per_s, options.reads_per_post
    if posts_per_s is None:
        mean = load_calculator.mean_rps(options.daily_users, options.requests_each)
        posts_per_s = load_calculator.peak_rps(mean, options.peak_factor) / (1 + reads)
    same = ("active", "lag_ms", "kept", "busy", "database_cores", "node_gib")
    others = {name: getattr(options, name) for name in same}
    return Situation(people, *one_way, largest, posts_per_s, reads, **others)


def degrees(path: Path) -> tuple[int, float, int]:
    """Return people, mean friends and most friends of a CSV: a degree, or degree and count, a line.

    Raises ValueError, which names the line.
    """
    people = links = most = 0
    with path.open(newline="") as file:
        for row in filter(None, reader := csv.reader(file)):
            try:
                degree, count = map(int, row if len(row) > 1 else [*row, "1"])
            except ValueError:
                degree = count = -1
            if degree < 0 or count < 0:
                raise ValueError(
                    f"{path}, line {reader.line_num}: {','.join(row)!r} is neither a number of "
                    "friends nor friends,people"
                )
            people, links = people + count, links + degree * count
            most = max(most, degree) if count else most
    if not people:
        raise ValueError(f"{path} has no people")
    return people, links / people, most
