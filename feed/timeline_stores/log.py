from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import numpy as np
from django.db import DEFAULT_DB_ALIAS

from accounts.models import Person
from feed.recipients import Deliveries
from feed.timeline_stores.base import FEWEST_SHARDS, MOST_SHARDS, Command, Held, Versions, Wanted
from feed.timeline_stores.packing import FLAG, HEADER_BYTES, ID_BYTES, unpack, unpack_timeline
from feed.timeline_stores.ring import Part, RingStore, deliveries_into, script_of
from feed.timeline_stores.shards import RECORD_BYTES, records_by_shard, shards_of_records

COMPACTED = 2
"""Most records that a batch moves into rings, for each of its deliveries."""


class Log(RingStore):
    """Rings, and a log per shard: a batch costs one append per shard, not per timeline.

    A long log is moved into the rings (compaction, as in LSM trees). Until then its readers look
    through it. docs/decisions/0042.
    """

    script = script_of("ring.lua", "log.lua")

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
        # Then all logs have been compacted, or will be soon.
        return self.keys.shards * self.log_records

    def key(self, owner_id: int) -> str:
        prefix = self.keys.of_shard(owner_id % self.keys.shards)
        (header,) = self.servers.ask(("GETRANGE", f"{prefix}log", 0, RECORD_BYTES - 1))
        return f"{prefix}{_generation(header)}:{owner_id}"

    def find(self, owner_id: int, page: Wanted) -> Held:
        log, ring, reply = self._log_and_ring(owner_id, page.along)
        newest = max(HEADER_BYTES, len(ring) - page.limit * ID_BYTES)
        start = HEADER_BYTES if page.before else newest
        timeline = unpack_timeline(ring[:HEADER_BYTES] + ring[start:])
        if timeline is None:
            return Held(reply=reply)
        if logged := _ids_of(owner_id, log):
            timeline.see(logged)
        return timeline.page(page.before, page.limit)._replace(reply=reply)

    def _log_and_ring(
        self, owner_id: int, along: Command | None
    ) -> tuple[bytes, bytes, bytes | None]:
        """Return the log of a shard and one of its rings, read in one step; empty if absent."""
        prefix, reply = self.keys.of_shard(owner_id % self.keys.shards), None
        for _ in range(2):
            generation = self._generations.get(prefix)
            command = ("MGET", f"{prefix}log", f"{prefix}{generation}:{owner_id}")
            (log, ring), reply = self.servers.ask_along(command, along)
            found = _generation(log)
            if found is None:
                break
            if found == generation:
                return log, ring or b"", reply
            self._generations[prefix] = found
        return b"", b"", reply

    def write(self, deliveries: Deliveries) -> Versions:
        records = records_by_shard(deliveries, self.keys.shards)
        sizes = self._append(records)
        longest = RECORD_BYTES * (1 + self.log_records)
        long = {number: size for number, size in sizes.items() if size > longest}
        return self.compact(_longest(long, COMPACTED * sum(map(len, records.values()))))

    def _append(self, records: Mapping[int, bytes]) -> dict[int, float]:
        """Append to the logs of these shards; return their sizes."""
        prefixes = self.keys.of_shards(records)
        added = zip(prefixes, records.values(), strict=True)
        replies = self.servers.send([("APPEND", f"{prefix}log", text) for prefix, text in added])
        return dict(zip(records, map(_size, replies), strict=True))

    def compact(self, numbers: Sequence[int]) -> Versions:
        """Move what the logs of these shards hold into the rings.

        Does nothing to a log that another process has compacted meanwhile, and begins anew what is
        not a log.
        """
        if not numbers:
            return {}
        # MGET, other than GET, takes what is not a string for absent.
        commands = [("MGET", f"{prefix}log") for prefix in self.keys.of_shards(numbers)]
        found = zip(numbers, self.servers.call(commands), strict=True)
        logs = {number: log for number, (log,) in found if _generation(log) is not None}
        if lost := [number for number in numbers if number not in logs]:
            self.run("create", [Part(number, {"owners": []}) for number in lost])
        return self.run("compact", self.records_in(logs))

    def records_in(self, logs: Mapping[int, bytes]) -> list[Part]:
        """Return what these logs hold, and what shows whether they were cut since."""
        records = b"".join(log[RECORD_BYTES:] for log in logs.values())
        parts = []
        for shard in shards_of_records(records, self.keys.shards):
            log = logs[shard.number]
            cut = int(unpack(log[ID_BYTES:RECORD_BYTES])[0]) - FLAG
            read = {"cut": cut, "size": len(log), "bytes": len(shard.posts)}
            parts.append(deliveries_into(shard, **read))
        return parts


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
