"""The open streams of a process, and the loop that tells them the news."""

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

from django.db import connections

from feed.journal import TRUST_S, Position
from stream.reading import GAP, Admitted, Behind, Reading, Told, are_valid

logger = logging.getLogger(__name__)
Given = TypeVarTuple("Given")
Result = TypeVar("Result")

STEP_S = 0.05
"""Seconds from one look for news to the next: what came meanwhile is one write per stream."""
CHECK_EVERY_S = 1.0
HEARTBEAT_S = 8.0
"""Longest silence: proxies close connections that are silent for longer."""
RETRY_S = 0.5
FAILING_S = 5.0
"""After that time without a look, no stream is opened."""
MOST_OPENED = 200
"""Streams that are opened per look."""
MOST_OF_PERSON = 10
UNREADABLE = "The news can't be read. Try again later."
RECONNECT_MS = (500, 3000)
"""Clients come back after a random time, not all at once."""


class Refused(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Stream:
    """One client's events. It is *behind* if it has not been told the news up to the hub's end."""

    def __init__(self, person: Admitted, position: Position) -> None:
        self.person_id, self.claims = person
        self.is_behind = True
        self.is_ended = False
        self._position = position
        self._pending: list[bytes] = []
        self._pending_since = self.written_at = time.monotonic()
        self._wake = asyncio.Event()

    def behind(self) -> Behind:
        return Behind(self.person_id, self._position)

    def put(self, text: bytes, read_at: float, begin: Position) -> None:
        """Add events that follow the position ``begin``."""
        self.is_behind = False
        if not self._pending:
            self._pending_since, self._position = read_at, begin
        elif self._is_stale():
            return  # the client reads too slowly: it resumes from where the pending ones begin
        self._pending.append(text)
        self._wake.set()

    def begin_anew(self) -> None:
        """Tell a gap next, instead of what is pending."""
        self.is_behind, self._position, self._pending = True, Position(), []

    def end(self) -> None:
        self.is_ended = True
        self._wake.set()

    async def events(self) -> AsyncIterator[bytes]:
        """Yield what is to be written, whenever the client has taken what was before."""
        yield b"retry: %d\n\n" % random.randint(*RECONNECT_MS)  # noqa: S311
        while not self.is_ended:
            await self._wake.wait()
            self._wake.clear()
            pending, self._pending = self._pending, []
            if pending and self._is_stale():
                self.is_behind = True
            elif text := b"".join(pending):
                self.written_at = time.monotonic()
                yield text

    def _is_stale(self) -> bool:
        return time.monotonic() > self._pending_since + TRUST_S


class Hub:
    """``most``: streams at a time."""

    def __init__(self, *, most: int, is_stopping: Callable[[], bool]) -> None:
        self._most = most
        self._is_stopping = is_stopping
        self._streams: set[Stream] = set()
        self._opening: list[tuple[bytes, Position, asyncio.Future[Stream]]] = []
        self._reading: Reading | None = None
        self._thread = ThreadPoolExecutor(1, "reading")
        self._looked_at = self._checked_at = 0.0

    @property
    def is_following(self) -> bool:
        return time.monotonic() < self._looked_at + FAILING_S

    def __len__(self) -> int:
        return len(self._streams)

    async def open(self, token: bytes, position: Position) -> Stream:
        """Open a stream that follows a position. Raises Refused."""
        if not self.is_following:
            raise Refused(503, UNREADABLE)
        if len(self._streams) + len(self._opening) >= self._most:
            raise Refused(503, "Too many streams are open. Try again later.")
        opened: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        self._opening.append((token, position, opened))
        return await opened

    def close(self, stream: Stream) -> None:
        self._streams.discard(stream)

    async def follow(self) -> None:
        """Tell the streams all news until the process stops; then end them."""
        while not self._is_stopping():
            began_at = time.monotonic()
            try:
                if self._reading is None:
                    self._reading = await self._in_thread(Reading)
                await self._admit(self._reading)
                await self._tell(self._reading)
                if began_at > self._checked_at + CHECK_EVERY_S:
                    await self._check(self._reading)
                    self._checked_at = began_at
                self._looked_at = began_at
            except Exception as error:  # no error ends the streams
                logger.warning("trying again in %s s: %s", RETRY_S, error)
                await self._in_thread(connections.close_all)
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(max(0.0, began_at + STEP_S - time.monotonic()))
        for _, _, opened in self._opening:
            _refuse(opened, Refused(503, UNREADABLE))
        for stream in list(self._streams):
            stream.end()

    async def _admit(self, reading: Reading) -> None:
        opening, self._opening = self._opening[:MOST_OPENED], self._opening[MOST_OPENED:]
        if not opening:
            return
        try:
            people = await self._in_thread(reading.admit, [token for token, _, _ in opening])
        except Exception:
            for _, _, opened in opening:
                _refuse(opened, Refused(503, UNREADABLE))
            raise
        open_of = Counter(stream.person_id for stream in self._streams)
        for person, (_, position, opened) in zip(people, opening, strict=True):
            if person is None:
                _refuse(opened, Refused(401, "The access token is not valid."))
            elif open_of[person.person_id] >= MOST_OF_PERSON:
                _refuse(opened, Refused(503, "You have too many streams open. Close some."))
            elif not opened.done():  # the client may have gone
                open_of[person.person_id] += 1
                self._streams.add(stream := Stream(person, position))
                opened.set_result(stream)

    async def _tell(self, reading: Reading) -> None:
        behind = [stream for stream in self._streams if stream.is_behind]
        behind.sort(key=lambda stream: stream.written_at)
        current = [stream for stream in self._streams if not stream.is_behind]
        listening = {stream.person_id for stream in current}
        begin = reading.end
        told: Told = await self._in_thread(
            reading.read, listening, [stream.behind() for stream in behind]
        )
        # Those who are behind first: else a busy process would leave the same ones behind for ever.
        for stream, lacked in zip(behind, told.behind, strict=False):
            stream.put(lacked, told.read_at, stream.behind().position)
        gap = GAP % str(told.end).encode()
        for stream in current:
            text = gap if told.current is None else told.current.get(stream.person_id)
            if text and not stream.is_behind:
                stream.put(text, told.read_at, begin)
        self._begin_anew(told.changed)
        silent_since = time.monotonic() - HEARTBEAT_S
        for stream in current:
            if stream.written_at < silent_since and not stream.is_behind:
                stream.put(b":\nid: %b\n\n" % str(told.end).encode(), told.read_at, told.end)

    async def _check(self, reading: Reading) -> None:
        """End streams whose tokens are invalid by now; tell who may read others by now."""
        streams = list(self._streams)
        tokens = [(stream.person_id, stream.claims) for stream in streams]
        valid = await self._in_thread(are_valid, tokens)
        for stream, is_valid in zip(streams, valid, strict=True):
            if not is_valid:
                stream.end()
        people = {stream.person_id for stream in streams}
        self._begin_anew(await self._in_thread(reading.changed, people))

    def _begin_anew(self, people: set[int]) -> None:
        for stream in self._streams:
            if stream.person_id in people:
                stream.begin_anew()

    async def _in_thread(self, function: Callable[[*Given], Result], *given: *Given) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *given)


def _refuse(opened: "asyncio.Future[Stream]", refused: Refused) -> None:
    if not opened.done():
        opened.set_exception(refused)
