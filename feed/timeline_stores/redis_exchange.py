"""Commands to several Redis servers at once."""

from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError

from feed.timeline_stores.redis_server import (
    Command,
    connect,
    numbers_of,
    packed,
    replies_to,
    thread,
)
from runtime.redis_options import noting

CONFIRM_MS = 200
"""How long a write waits for a replica."""
Reply = list[Any] | RedisError


def exchange(batches: Sequence[tuple[str, Sequence[Command], bool]], source: str) -> list[Reply]:
    """Send commands to several servers, and then read the replies of all.

    ``batches``: a server's URL, its commands, and whether a replica has to confirm what they write.
    A server that fails has its error in place of replies.
    """
    if not batches:
        return []
    (url, commands, confirm), rest = batches[0], batches[1:]
    others: list[Reply] | None = None
    reply: Reply
    try:
        with noting(url):
            connection: Any = _connected(url).connection
            said = [*commands, ("WAIT", 1, CONFIRM_MS)] if confirm else commands
            try:
                connection.send_packed_command(packed(said))
                others = exchange(rest, source)
                reply = replies_to(said, connection)
            except BaseException:
                connection.disconnect()  # or the next call would read these replies
                raise
        reply = _confirmed(reply) if confirm else reply
        if lacking := numbers_of(NoScriptError, reply):
            reply = _again_with_script(url, commands, confirm, source, reply, lacking)
    except RedisError as error:
        reply = error
    return [reply, *(exchange(rest, source) if others is None else others)]


def _connected(url: str) -> Redis:
    if url not in thread.clients:
        raise Disconnected(f"{url} is not connected")
    return thread.clients[url]


def _confirmed(replies: list[Any]) -> list[Any]:
    """Return the replies without that of WAIT. Raises RedisError if no replica has the writes."""
    *replies, replicas = replies
    if isinstance(replicas, ResponseError):
        raise replicas
    if not replicas:
        raise Disconnected("no replica has confirmed the deliveries")
    return replies


def _again_with_script(
    url: str,
    commands: Sequence[Command],
    confirm: bool,
    source: str,
    replies: list[Any],
    lacking: Sequence[int],
) -> Reply:
    """Give a server the script that it doesn't have, and repeat the calls that needed it."""
    connect(url).script_load(source)
    (again,) = exchange([(url, [commands[it] for it in lacking], confirm)], source)
    if isinstance(again, RedisError):
        return again
    for number, reply in zip(lacking, again, strict=True):
        replies[number] = reply
    return replies
