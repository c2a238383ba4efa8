"""A TCP proxy in front of a server, which passes everything on until it is told to be slow.

``python -m lab.faults.slow_proxy HOST:PORT PORT CONTROL_PORT``. Whoever connects to the control
port and writes a line with one of KINDS gets that, until they close the connection. The answer to
this line and to each further one is how many pieces of data were delayed or lost by then.
"""

import asyncio
import random
import struct
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from socket import SO_LINGER, SOL_SOCKET
from typing import NamedTuple

HERE = "127.0.0.1"
BUFFER_BYTES = 2**20
"""What comes while a piece is late follows it at once, up to so much."""
NO_GOODBYE = struct.pack("ii", 1, 0)


class Kind(NamedTuple):
    """One way to be slow."""

    lasts_s: float = 4.0
    late_s: float = 0.0
    """Answers come so much later."""
    bytes_per_s: float = inf
    """In each direction of a connection."""
    lost_requests: float = 0.0
    """Share of the pieces to the server that are lost; their connections are reset."""
    lost_answers: float = 0.0
    """The same of the pieces from it, which has acted by then."""
    is_half_open: bool = False
    """What was connected before loses all data. Clients are reset at the end, as by keep-alive; the
    server learns nothing until the next kind."""


ANSWERS_LOST = "2 % of answers lost"
HALF_OPEN = "half-open"
# Those that have found errors come first.
KINDS: Mapping[str, Kind] = {
    HALF_OPEN: Kind(lasts_s=12.0, is_half_open=True),
    ANSWERS_LOST: Kind(lost_answers=0.02),
    "1 % resets": Kind(lost_requests=0.01),
    "10 kB/s": Kind(bytes_per_s=10_000),
    "500 ms": Kind(late_s=0.5),
    "50 ms": Kind(late_s=0.05),
}


class Link:
    """A client's connection and the one to the server."""

    def __init__(self, client: StreamWriter, server: StreamWriter) -> None:
        self.client, self.server = client, server
        self.is_half_open = False

    def reset(self) -> None:
        reset(self.client)
        reset(self.server)

    def close(self) -> None:
        self.client.close()
        self.server.close()


class Proxy:
    def __init__(self, server: str) -> None:
        self.host, _, self.port = server.partition(":")
        self.links: set[Link] = set()
        self.kind, self.touched = Kind(), 0

    async def connect(self, reader: StreamReader, client: StreamWriter) -> None:
        try:
            answers, server = await asyncio.open_connection(
                self.host, int(self.port), limit=BUFFER_BYTES
            )
        except OSError:
            reset(client)
            return
        link = Link(client, server)
        self.links.add(link)
        await asyncio.gather(
            self.pump(link, reader, server, is_answer=False),
            self.pump(link, answers, client, is_answer=True),
        )
        self.links.discard(link)

    async def pump(
        self, link: Link, reader: StreamReader, writer: StreamWriter, *, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(BUFFER_BYTES):
                while data:
                    size = int(min(self.kind.bytes_per_s / 10, BUFFER_BYTES))
                    await self.pass_on(link, data[:size], writer, is_answer=is_answer)
                    data = data[size:]
        if not link.is_half_open:
            link.close()

    async def pass_on(
        self, link: Link, piece: bytes, writer: StreamWriter, *, is_answer: bool
    ) -> None:
        kind = self.kind
        late_s = kind.late_s * is_answer + len(piece) / kind.bytes_per_s
        share = kind.lost_answers if is_answer else kind.lost_requests
        is_lost = random.random() < share  # noqa: S311
        self.touched += bool(late_s or is_lost or link.is_half_open)
        await asyncio.sleep(late_s)
        if is_lost:
            link.reset()
        elif not link.is_half_open:
            writer.write(piece)
            await writer.drain()

    async def control(self, reader: StreamReader, writer: StreamWriter) -> None:
        name = (await reader.readline()).decode().strip()
        self.begin(KINDS[name])
        writer.write(b"0\n")
        while await reader.readline():
            writer.write(f"{self.touched}\n".encode())
        self.end()
        print(f"{name}: {self.touched} pieces", flush=True)
        writer.close()

    def begin(self, kind: Kind) -> None:
        self.kind, self.touched = kind, 0
        for link in self.links:
            if link.is_half_open:
                link.reset()
            link.is_half_open = kind.is_half_open

    def end(self) -> None:
        self.kind = Kind()
        for link in self.links:
            if link.is_half_open:
                reset(link.client)


def reset(writer: StreamWriter) -> None:
    """End a connection with RST instead of FIN."""
    if not writer.transport.is_closing():
        writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, NO_GOODBYE)
        writer.transport.abort()


async def main(server: str, port: str, control_port: str) -> None:
    proxy = Proxy(server)
    await asyncio.start_server(proxy.control, HERE, int(control_port))
    serving = await asyncio.start_server(proxy.connect, HERE, int(port), limit=BUFFER_BYTES)
    await serving.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
