"""Posts that are deleted as soon as they are written."""

import time
from contextlib import closing

from lab.faults.base import Fault
from lab.faults.readers import Readers, request
from lab.faults.running import Running

LASTS_S = 2.0
AUTHOR = 1


class Deletes(Fault):
    name = "deletes"
    text = (
        "Somebody writes posts and deletes them as fast as they are answered, and a friend reads "
        "before and after."
    )
    safeguard = "markers"
    at_stake = "deleted posts"

    def inject(self, running: Running, readers: Readers) -> int:
        friend = min(readers.friends[AUTHOR])
        deleted, until = 0, time.monotonic() + LASTS_S
        with closing(readers.connection()) as http:
            while deleted <= 5 or time.monotonic() < until:
                status, post = running.ask(
                    http, running.tokens[AUTHOR - 1], "POST", "/v1/posts/", '{"body": "wrong"}'
                )
                if status != 201:
                    continue
                readers.read(http, friend)  # so that it is in the cache, if it is delivered yet
                request(http, running, friend, "GET", f"/v1/posts/{post['id']}/")
                readers.delete(http, post)
                readers.read(http, friend)
                deleted += 1
        return deleted
