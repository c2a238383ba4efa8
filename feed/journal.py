"""The order in which streams show news: deliveries and deletions (docs/decisions/0065).

The processes that stream write it together. Each looks for receipts and deletions that the journal
lacks, and appends them as the step behind the last one that it knows. If another process was
faster, the step is taken: then that one is read first, and what it has is left out. So all
processes have the same order, without a lock, and those who deliver have nothing to do with it.
"""

import secrets
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import NamedTuple, Self

import numpy as np
from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from numpy.typing import NDArray

from accounts.revocations import LONGEST_TRANSACTION_S
from feed.models import JournalStep, Post

News = NDArray[np.int64]
"""Rows of post id, negative for a deletion, and author id."""
KEEP_S = 300
"""Age of the oldest step: who was away for longer asks for the page."""
BEAT_S = 10.0
"""A step is written at least so often, with or without news."""
OVERLAP_S = 1.0
"""Receipts commit later than their time says, seldom by more …"""
DEEP_EVERY_S = 5.0
"""… so a look as far back as the longest transaction is made less often."""
MOST_NEWS = 100_000
"""If more is found, the journal begins anew."""
TRUST_S = 0.1
"""Streams send nothing that they read longer ago than this."""


class Position(NamedTuple):
    """Up to where a stream has been told the news."""

    step: int = 0
    nonce: int = 0
    """Of the step: a restored database uses its number again."""
    told: int = 0
    """Rows of the step's news."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an event's id; one that means nothing is before any step."""
        numbers = text.split(".")
        if len(numbers) != 3 or not all(n.isascii() and n.isdecimal() for n in numbers):
            return cls()
        return cls(*map(int, numbers))

    def __str__(self) -> str:
        return f"{self.step}.{self.nonce}.{self.told}"


class Step(NamedTuple):
    number: int
    nonce: int
    news: News
    written_at: float
    """By this process's clock."""
    begin: int
    """Rows before it in this process's copy."""


class Journal:
    """This process's copy of the journal."""

    def __init__(self) -> None:
        self._begin_anew()

    @property
    def end(self) -> Position:
        last = self._steps[-1]
        return Position(last.number, last.nonce, len(last.news))

    def row(self, position: Position) -> int | None:
        """Return the first row after a position; None if that isn't known any more."""
        at = position.step - self._steps[0].number
        if not 0 <= at < len(self._steps) or self._steps[at].nonce != position.nonce:
            return None
        return self._steps[at].begin + min(position.told, len(self._steps[at].news))

    def news(self, row: int) -> News:
        """Return the news from a row on."""
        at = self._at(row)
        found = np.concatenate([step.news for step in islice(self._steps, at, None)])
        return found[row - self._steps[at].begin :]

    def position(self, row: int) -> Position:
        """Return the position behind a row."""
        step = self._steps[self._at(row)]
        return Position(step.number, step.nonce, row - step.begin + 1)

    def look(self) -> None:
        """Read the steps of others, and append what nobody has written yet.

        Afterwards ``row`` knows no position of before if the database was restored or emptied.
        """
        while not (self._read() and self._append()):
            pass
        while self._steps[0].written_at < time.monotonic() - KEEP_S:
            self._known.difference_update(self._steps.popleft().news[:, 0].tolist())

    def _at(self, row: int) -> int:
        """Return which step has a row; the last one if none has it yet."""
        return bisect_right(self._steps, row, key=lambda step: step.begin) - 1

    def _begin_anew(self) -> None:
        self._steps: deque[Step] = deque()
        self._known: set[int] = set()
        self._looked_at = self._looked_deep_at = time.monotonic()
        kept = _steps().filter(written_at__gt=Now() - timedelta(seconds=KEEP_S))
        for number, nonce, news, age in kept.annotate(age=Now() - F("written_at")).values_list(
            "number", "nonce", "news", "age"
        ):
            self._looked_at = time.monotonic() - age.total_seconds()
            self._add(number, nonce, _unpacked(news), self._looked_at)
        self._looked_deep_at = self._looked_at - DEEP_EVERY_S

    def _read(self) -> bool:
        """Add the steps of others; return False if the journal doesn't go on where it ended."""
        if not self._steps:
            self._begin_anew()
            return True
        last = self._steps[-1]
        found = list(_steps().filter(number__gte=last.number))
        if not found or found[0].nonce != last.nonce:
            self._begin_anew()
            return False
        for row in found[1:]:
            self._add(row.number, row.nonce, _unpacked(row.news), time.monotonic())
        return True

    def _append(self) -> bool:
        """Append what is new, or an empty step if that is due; return False if it is taken."""
        now = time.monotonic()
        is_deep = now - self._looked_deep_at >= DEEP_EVERY_S
        back_s = now - self._looked_at + (LONGEST_TRANSACTION_S if is_deep else OVERLAP_S)
        new = [row for row in _found(back_s) if row[0] not in self._known]
        if len(new) > MOST_NEWS and self._steps:
            _steps().delete()
            return True
        is_due = not self._steps or now - self._steps[-1].written_at > BEAT_S
        if (new or is_due) and not self._write(new):
            return False
        self._looked_at = now
        if is_deep:
            self._looked_deep_at = now
        return True

    def _write(self, new: Sequence[tuple[int, int]]) -> bool:
        """Write a step behind the last one; return False if somebody else did."""
        last = self._steps[-1] if self._steps else _steps().last()
        number = last.number + 1 if last else 1
        nonce, news = secrets.randbits(32), np.array(new, np.int64).reshape(-1, 2)
        row = JournalStep(number=number, nonce=nonce, news=news.tobytes())
        try:
            with transaction.atomic(DEFAULT_DB_ALIAS):
                row.save(force_insert=True, using=DEFAULT_DB_ALIAS)
        except IntegrityError:
            return False
        self._add(number, nonce, news, time.monotonic())
        return True

    def _add(self, number: int, nonce: int, news: News, written_at: float) -> None:
        begin = self._steps[-1].begin + len(self._steps[-1].news) if self._steps else 0
        self._steps.append(Step(number, nonce, news, written_at, begin))
        self._known.update(news[:, 0].tolist())


def wait_for_streams(changed_at: float) -> None:
    """Wait until no stream sends what it read before this monotonic time, if there may be any."""
    beat = timedelta(seconds=3 * BEAT_S)
    if _steps().filter(written_at__gt=Now() - beat).exists():
        time.sleep(max(0.0, changed_at + 1.5 * TRUST_S - time.monotonic()))


def old_steps() -> QuerySet[JournalStep]:
    return _steps().filter(written_at__lt=Now() - timedelta(seconds=2 * KEEP_S))


def _steps() -> QuerySet[JournalStep]:
    return JournalStep.objects.using(DEFAULT_DB_ALIAS).order_by("number")


def _found(back_s: float) -> Iterator[tuple[int, int]]:
    """Return the receipts and deletions of the last seconds, each of them once."""
    since = Now() - timedelta(seconds=back_s)
    posts = Post.objects.using(DEFAULT_DB_ALIAS).values_list("id", "author_id")
    delivered = posts.filter(delivered_at__gt=since).order_by("delivered_at", "id")
    yield from delivered[: MOST_NEWS + 1]
    for post_id, author_id in posts.filter(deleted_at__gt=since)[: MOST_NEWS + 1]:
        yield -post_id, author_id


def _unpacked(news: bytes | memoryview) -> News:
    return np.frombuffer(news, np.int64).reshape(-1, 2)
