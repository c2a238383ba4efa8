"""Reads many streams at once, and notes when each event came.

python -m lab.running.stream_reader --url http://127.0.0.1:8001 --tokens FILE --count 9 --out FILE

Comes back with Last-Event-ID when a stream ends; with --stays-s, each leaves by itself after a
random time, so many seconds on average. Between SIGUSR1 and SIGUSR2 it reads nothing. After SIGTERM
it ends when nothing comes any more: then the file has a list with what each person's stream showed
(``Shown``).
"""

import argparse
import asyncio
import json
import random
import re
import resource
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from lab.running.streams import Shown, spread
from lab.systems.api import Person, read_people

EVENT = re.compile(rb'id: (\S+)\n(?:event: (\w+)\ndata: (?:{"id":(\d+)|{})[^\n]*\n)?\n')
"""An event, or a heartbeat; what stands between chunks is not matched."""
COMES_BACK_S = (0.1, 1.0)
OPENED_AT_ONCE = 100
LONG_S = 1e9
QUIET_S = 2.0
"""Without an event for so long, everything has come."""


class Reading(asyncio.Protocol):
    """One person's stream."""

    def __init__(self, person: Person, host: str) -> None:
        self._person, self._host = person, host
        self._rest, self.last_id = b"", b""
        self.heard_at = 0.0
        """Monotonic time of the last event."""
        self.shown = Shown(person.id, 0.0, 0, 0, [])
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self._rest = transport, b""
        transport.write(
            f"GET /v1/feed/stream HTTP/1.1\r\nHost: {self._host}\r\nConnection: close\r\n"
            f"Authorization: Bearer {self._person.token}\r\n"
            f"Last-Event-ID: {self.last_id.decode()}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        now, text, end = time.time(), self._rest + data, 0
        _, opened_at, gaps, writes, events = self.shown
        before = len(events)
        for event in EVENT.finditer(text):
            end, self.last_id = event.end(), event[1]
            if event[2] == b"post":
                events.append((int(event[3]), now))
            elif event[2] == b"gap":
                gaps, opened_at = gaps + 1, opened_at or now
        if len(events) > before:
            writes, self.heard_at = writes + 1, time.monotonic()
        self.shown = Shown(self._person.id, opened_at, gaps, writes, events)
        self._rest = text[end:]

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()

    async def keep_open(
        self, address: tuple[str, int], turns: asyncio.Semaphore, stays_s: float
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.ended.clear()
            with suppress(OSError):
                async with turns:
                    await loop.create_connection(lambda: self, *address)
                leaves = loop.call_later(random.expovariate(1 / stays_s), self.transport.close)
                await self.ended.wait()
                leaves.cancel()
            await asyncio.sleep(random.uniform(*COMES_BACK_S))  # noqa: S311


async def read(people: Sequence[Person], url: str, stays_s: float) -> list[Reading]:
    """Read the streams of these people until SIGTERM, and then until nothing comes any more."""
    parts, stopped, turns = urlsplit(url), asyncio.Event(), asyncio.Semaphore(OPENED_AT_ONCE)
    readings = [Reading(person, parts.netloc) for person in people]

    def pause() -> None:
        for reading in readings:
            reading.transport.pause_reading()

    def resume() -> None:
        for reading in readings:
            reading.transport.resume_reading()

    on_signal = asyncio.get_running_loop().add_signal_handler
    on_signal(signal.SIGTERM, stopped.set)
    on_signal(signal.SIGUSR1, pause)
    on_signal(signal.SIGUSR2, resume)
    address = (parts.hostname or "", parts.port or 80)
    tasks = [asyncio.create_task(one.keep_open(address, turns, stays_s)) for one in readings]
    await stopped.wait()
    while any(reading.heard_at > time.monotonic() - QUIET_S for reading in readings):
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    return readings


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--url", required=True)
    options.add_argument("--tokens", type=Path, required=True)
    options.add_argument("--count", type=int, required=True)
    options.add_argument("--stays-s", type=float, default=LONG_S)
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    people = spread(read_people(chosen.tokens), chosen.count)
    readings = asyncio.run(read(people, chosen.url, chosen.stays_s))
    chosen.out.write_text(json.dumps([reading.shown for reading in readings]))


if __name__ == "__main__":
    main()
