"""The endpoint GET /v1/feed/stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from feed.journal import Position
from stream.hub import Hub, Refused, Stream

RETRY_AFTER_S = "5"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def application(hub: Hub) -> Starlette:
    async def stream(request: Request) -> Response:
        """Send the news of one's feed as server-sent events, from ``Last-Event-ID`` on."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return _refusal(Refused(401, "An access token is needed."))
        position = Position.parse(request.headers.get("last-event-id", ""))
        try:
            opened = await hub.open(token.strip().encode(), position)
        except Refused as refused:
            return _refusal(refused)
        events = _events(hub, opened)
        return StreamingResponse(events, headers=HEADERS, media_type="text/event-stream")

    async def health(request: Request) -> Response:
        return JSONResponse({"streams": len(hub)}, 200 if hub.is_following else 503)

    @asynccontextmanager
    async def following(app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(hub.follow())
        yield
        await task

    routes = [Route("/v1/feed/stream", stream), Route("/healthz", health)]
    return Starlette(routes=routes, lifespan=following)


async def _events(hub: Hub, opened: Stream) -> AsyncIterator[bytes]:
    try:
        async for text in opened.events():
            yield text
    finally:
        hub.close(opened)


def _refusal(refused: Refused) -> Response:
    is_unknown = refused.status == 401
    header = {"WWW-Authenticate": "Bearer"} if is_unknown else {"Retry-After": RETRY_AFTER_S}
    return JSONResponse({"detail": str(refused)}, refused.status, header)
