from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import numpy as np
from django.db import DEFAULT_DB_ALIAS

from accounts.models import Person
from feed.timeline_stores.base import FEWEST_SHARDS, MOST_SHARDS, Held
from feed.timeline_stores.packing import FLAG, HEADER_BYTES, ID_BYTES, unpack_timeline
from feed.timeline_stores.redis import Script
from feed.timeline_stores.ring import Ring
from feed.timeline_stores.sharded import shard_portions
from feed.timeline_stores.shards import RECORD_BYTES, records_by_shard, shards_of_records
from feed.timeline_stores.trimmed import Deliveries, Tickets

COMPACTED = 2
"""Most records that a batch moves into rings, for each of its deliveries."""


class Log(Ring):
    """Rings, and a log per shard: a batch costs one append per shard, not per timeline.

    A long log is moved into the rings (compaction, as in LSM trees). Until then its readers look
    through it. docs/decisions/0042.
    """

    script = Script("ring.lua", "rule.lua", "log.lua")

    def __init__(
        self, alias: str, *, url: str, capacity: int = 800, log_records: int = 2000
    ) -> None:
        super().__init__(alias, url=url, capacity=capacity)
        self.log_records = log_records
        self._generations: dict[str, int] = {}
        """As they were last seen, by the prefix of a shard."""

    def suitable_shards(self) -> int:
        people = Person.objects.using(DEFAULT_DB_ALIAS).count()
        return max(shards_for(people), super().suitable_shards())

    def steady_after(self) -> int:
        return self.shards * self.log_records  # then all logs have been compacted, or will be soon

    def key(self, owner_id: int) -> str:
        prefix = self.shard_prefix(owner_id % self.shards)
        header = self.servers.ask("GETRANGE", f"{prefix}log", 0, RECORD_BYTES - 1)
        return f"{prefix}{_generation(header)}:{owner_id}"

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        log, ring = self._log_and_ring(owner_id)
        start = HEADER_BYTES if before else max(HEADER_BYTES, len(ring) - limit * ID_BYTES)
        timeline = unpack_timeline(ring[:HEADER_BYTES] + ring[start:])
        if timeline is None:
            return Held()
        if logged := _ids_of(owner_id, log):
            timeline.see(logged)
        return timeline.page(before, limit)

    def _log_and_ring(self, owner_id: int) -> tuple[bytes, bytes]:
        """Return the log of a shard and one of its rings, read in one step; empty if absent."""
        prefix = self.shard_prefix(owner_id % self.shards)
        for _ in range(2):
            generation = self._generations.get(prefix)
            log, ring = self.servers.ask("MGET", f"{prefix}log", f"{prefix}{generation}:{owner_id}")
            found = _generation(log)
            if found is None:
                break
            if found == generation:
                return log, ring or b""
            self._generations[prefix] = found
        return b"", b""

    def write(self, deliveries: Deliveries) -> Tickets:
        records = records_by_shard(deliveries, self.shards)
        sizes = self._append(records)
        longest = RECORD_BYTES * (1 + self.log_records)
        long = {number: size for number, size in sizes.items() if size > longest}
        return self._compact(_longest(long, COMPACTED * sum(map(len, records.values()))))

    def _append(self, records: Mapping[int, bytes]) -> dict[int, float]:
        """Append to the logs of these shards; return their sizes."""
        replies = self.servers.send(
            [
                ("APPEND", f"{prefix}log", it)
                for prefix, it in zip(self.shard_prefixes(records), records.values(), strict=True)
            ]
        )
        return dict(zip(records, map(_size, replies), strict=True))

    def _compact(self, numbers: Sequence[int]) -> Tickets:
        """Move what the logs of these shards hold into the rings.

        Does nothing to a log that another process has compacted meanwhile, and begins anew what is
        not a log.
        """
        if not numbers:
            return {}
        # MGET, other than GET, takes what is not a string for absent.
        found = self.send([("MGET", f"{prefix}log") for prefix in self.shard_prefixes(numbers)])
        logs = {
            number: text
            for number, (text,) in zip(numbers, found, strict=True)
            if _generation(text) is not None
        }
        if len(logs) < len(numbers):
            lost = [number for number in numbers if number not in logs]
            self.call("create", {number: [] for number in lost}, lambda _: ())
        records = b"".join(text[RECORD_BYTES:] for text in logs.values())
        waiting: dict[int, int] = {}
        for portion in shard_portions(shards_of_records(records, self.shards)):
            texts = [logs[shard.number] for shard in portion]
            read = [text[:RECORD_BYTES] + len(text).to_bytes(8, "little") for text in texts]
            waiting |= self.call_with("compact", portion, *read)
        return waiting


def shards_for(people: int) -> int:
    """Return a power of two near the people to the power of 0.6.

    More shards mean more appends per batch, fewer mean more rings per compaction: the cost of both
    together is least about there (measured with batches of 100 posts to 500 friends).
    """
    bits = round(0.6 * log2(max(1, people)))
    return min(max(FEWEST_SHARDS, 1 << bits), MOST_SHARDS)


def _generation(log: Any) -> int | None:
    """Return what the keys of a shard's rings carry; None if that is no log."""
    if not log or len(log) % RECORD_BYTES or log[ID_BYTES - 1] < 0x80:
        return None
    return int.from_bytes(log[:ID_BYTES], "little") - FLAG


def _ids_of(owner_id: int, log: bytes) -> list[int]:
    """Return the post ids in an owner's records."""
    owner = owner_id.to_bytes(ID_BYTES, "little")
    thirds = np.frombuffer(log, "<u4")
    likely = np.flatnonzero(thirds[::3] == owner_id & 0xFFFFFFFF) * RECORD_BYTES
    return [
        int.from_bytes(log[at + ID_BYTES : at + RECORD_BYTES], "little")
        for at in likely.tolist()
        if log[at : at + ID_BYTES] == owner
    ]


def _size(reply: int | Exception) -> float:
    """Return the size of a log, infinite for a value of another type; raise other errors."""
    if not isinstance(reply, Exception):
        return reply
    if "WRONGTYPE" not in str(reply):
        raise reply
    return float("inf")


def _longest(sizes: Mapping[int, float], most: float) -> list[int]:
    """Return the longest logs, the longest first: so many as have ``most`` bytes, or one."""
    found: list[int] = []
    for number in sorted(sizes, key=sizes.__getitem__, reverse=True):
        found.append(number)
        most -= sizes[number]
        if most <= 0:
            break
    return found
