# mypy: ignore-errors
"""What a client of a cluster usually does with ASK: it asks where the slot is going."""

from redis.exceptions import AskError

from feed.timeline_stores.redis_servers import connect, pipelined


def following(exchange):
    """Return ``redis_cluster.exchange``, but with every ASK followed."""

    def exchange_and_follow(batches):
        found = exchange(batches)
        for (_, commands, _), replies in zip(batches, found, strict=True):
            for number, reply in enumerate(replies if isinstance(replies, list) else ()):
                if type(reply) is AskError:
                    client = connect(f"redis://{reply.host}:{reply.port}")
                    _, replies[number] = pipelined(client, [("ASKING",), commands[number]])
        return found

    return exchange_and_follow
