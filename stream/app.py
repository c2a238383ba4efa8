"""The endpoint GET /v1/feed/stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from feed.journal import Position
from stream.hub import Hub, Refused, Stream

RETRY_AFTER_S = "5"
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


def application(hub: Hub) -> Starlette:
    async def stream(request: Request) -> ASGIApp:
        """Send the news of one's feed as server-sent events, from ``Last-Event-ID`` on."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return _refusal(Refused(401, "An access token is needed."))
        position = Position.parse(request.headers.get("last-event-id", ""))
        try:
            opened = await hub.open(token.strip().encode(), position)
        except Refused as refused:
            return _refusal(refused)
        return partial(_send_events, hub, opened)

    async def health(request: Request) -> Response:
        return JSONResponse({"streams": len(hub)}, 200 if hub.is_following else 503)

    @asynccontextmanager
    async def following(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(hub.follow())
        yield
        await task

    routes = [Route("/v1/feed/stream", stream), Route("/healthz", health)]
    return Starlette(routes=routes, lifespan=following)


async def _send_events(
    hub: Hub, opened: Stream, scope: Scope, receive: Receive, send: Send
) -> None:
    """Send events until the stream ends. Starlette's ``StreamingResponse`` takes 8 KiB more."""
    leaving = asyncio.create_task(_end_when_gone(opened, receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async for text in opened.events():
            await send({"type": "http.response.body", "body": text, "more_body": True})
        await send({"type": "http.response.body"})
    finally:
        leaving.cancel()
        hub.close(opened)


async def _end_when_gone(opened: Stream, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    opened.end()


def _refusal(refused: Refused) -> Response:
    is_unknown = refused.status == 401
    header = {"WWW-Authenticate": "Bearer"} if is_unknown else {"Retry-After": RETRY_AFTER_S}
    return JSONResponse({"detail": str(refused)}, refused.status, header)
