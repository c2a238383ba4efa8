"""The received bytes of a connection, and whether they contain a complete request."""

import re
from math import inf
from os import SEEK_END
from socket import socket
from typing import Any

from django.conf import settings
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData
from gunicorn.http.unreader import Unreader

MAX_HEAD = 32 * 1024  # bytes; gunicorn limits each line by itself
READ_SIZE = 16 * 1024
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
EXPECT = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)


class Received(Unreader):  # type: ignore[misc]  # gunicorn has no types
    """Unparsed bytes. gunicorn parses these and never reads the socket.

    A request is complete when its head has arrived, and its body unless that is longer than the
    service accepts. Longer bodies are refused by Content-Length; Django reads no chunked ones.
    """

    def __init__(self) -> None:
        super().__init__()
        self._size: int | None = None  # of the first request; None until its head has arrived
        self._expects_continue = False
        self.line = b""
        """The first line of the first request, when its head has arrived."""

    def __len__(self) -> int:
        return int(self.buf.seek(0, SEEK_END))

    def receive(self, sock: socket) -> bool:
        """Read what has arrived; return whether a request is complete. Raises OSError at EOF."""
        while not (whole := self._is_whole()) and self._read(sock):
            pass
        if whole:
            return True
        if self._expects_continue:
            self._expects_continue = False
            sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return False

    def has_body_of(self, request: Any) -> bool:
        """Return whether the whole body of a parsed request has arrived."""
        return bool(getattr(request.body.reader, "length", inf) <= len(self))

    def answered(self) -> None:
        """Go on to the next request."""
        self._size = None
        self.line = b""

    def put(self, data: bytes) -> bool:
        """Add bytes that another process has received; return whether a request is complete."""
        self.buf.write(data)
        return self._is_whole()

    def drop(self) -> bool:
        """Go on without the first request; return whether the next one's begin is sure."""
        data = self.take_buffered()
        is_sure = self._size is not None and self._may_stay_open(data[: self._size])
        self.buf.write(data[self._size :])
        self.answered()
        return is_sure

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Raise instead of reading: gunicorn calls this when it has parsed all received bytes."""
        if self._size is None:
            raise LimitRequestHeaders("the head is too long")
        raise NoMoreData

    def _read(self, sock: socket) -> bool:
        try:
            data = sock.recv(READ_SIZE)
        except BlockingIOError:
            return False
        if not data:
            raise ConnectionAbortedError
        self.buf.seek(0, SEEK_END)
        self.buf.write(data)
        return True

    def _is_whole(self) -> bool:
        return len(self) >= self._size if self._size is not None else self._has_head()

    def _has_head(self) -> bool:
        """Look for the end of the head; a head that gunicorn will refuse needs none."""
        held = self.buf.getvalue()
        end = held.find(b"\r\n\r\n") + 4
        if end < 4:
            return len(held) > MAX_HEAD or held.count(b"\n") > held.count(b"\r\n")
        head = held[:end]
        self.line = head[: head.find(b"\r\n")]
        found = CONTENT_LENGTH.search(head)
        length = int(found[1]) if found else 0
        self._size = end + length if length <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE else end
        self._expects_continue = b" HTTP/1.1\r\n" in head and bool(EXPECT.search(head))
        return len(held) >= self._size

    def _may_stay_open(self, request: bytes) -> bool:
        """Look, with some caution, whether the client and its body's length allow for it."""
        head = request[: request.find(b"\r\n\r\n") + 4]
        found = CONTENT_LENGTH.search(head)
        length = int(found[1]) if found else 0
        lower = head.lower()
        return (
            len(request) == len(head) + length
            and lower.count(b"content-length") == (found is not None)
            and b" http/1.1\r\n" in lower
            and b"transfer-encoding" not in lower
            and b"close" not in lower
        )
