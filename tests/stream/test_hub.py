"""What waits in the process for a client that is slow."""

import asyncio
import time

import pytest

from feed.journal import TRUST_S, Position
from stream.hub import Stream
from stream.reading import Admitted

LATER = time.monotonic() + 3600
"""So that nothing is stale, however busy the machine is."""
FIRST, SECOND = Position(1, 7, 0), Position(2, 7, 0)


@pytest.fixture
def stream():
    return Stream(Admitted(2, {}), Position())


def written(stream):
    """Return what its client gets until nothing is pending."""
    found = []

    async def read():
        async for text in stream.events():
            found.append(text)  # noqa: PERF401  what was read before the end counts

    async def until_idle():
        reading = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        reading.cancel()

    asyncio.run(until_idle())
    return b"".join(found[1:])  # without the time of retries


def test_what_comes_before_the_client_has_taken_the_last_is_one_write(stream):
    stream.put(b"a", LATER, FIRST)
    stream.put(b"b", LATER, SECOND)

    assert written(stream) == b"ab"
    assert not stream.is_behind


def test_what_waits_for_too_long_is_read_again_from_where_it_began(stream):
    stream.put(b"a", time.monotonic() - 2 * TRUST_S, FIRST)
    stream.put(b"b", time.monotonic(), SECOND)

    assert written(stream) == b""
    assert stream.is_behind
    assert stream.behind() == (2, FIRST)


def test_after_a_change_of_friends_nothing_pending_is_written(stream):
    stream.put(b"a", LATER, FIRST)
    stream.begin_anew()

    assert written(stream) == b""
    assert stream.behind() == (2, Position())


def test_an_ended_stream_ends(stream):
    stream.end()

    assert written(stream) == b""
