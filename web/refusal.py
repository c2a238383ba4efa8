"""The answer to a request that is refused before it is parsed: bytes that are ready."""

from functools import cache

BODY = b'{"detail":"Too many requests wait. Try again.","code":"not_stored"}'
HEAD = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"Retry-After: 1\r\n"
    b"Connection: %b\r\n"
    b"Content-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n"
)


@cache
def refusal(*, keeps: bool, has_body: bool) -> bytes:
    """Return an answer; ``keeps``: the connection stays open, ``has_body``: False for HEAD."""
    head = HEAD % (b"keep-alive" if keeps else b"close", len(BODY))
    return head + BODY if has_body else head
