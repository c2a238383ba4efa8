"""The undocumented parts of gunicorn that web.gunicorn_worker uses."""

import inspect
from hashlib import sha256

from gunicorn.http.body import LengthReader
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import PollableMethodQueue, TConn, ThreadWorker

READ = "23da5846b167d24375f044987962a928b4b888ab4f2a8e5b988175d267f84cee"
PARTS = (
    TConn,
    PollableMethodQueue,
    ThreadWorker.__init__,
    ThreadWorker.accept,
    ThreadWorker.enqueue_req,
    ThreadWorker.wait_for_and_dispatch_events,
    ThreadWorker.murder_pending,
    ThreadWorker.run,
    ThreadWorker.finish_request,
    ThreadWorker.handle,
    ThreadWorker.handle_request,
    ThreadWorker._keepalive_after,
    Parser,
    Unreader,
    LengthReader,
)


def test_the_private_parts_of_gunicorn_are_unchanged():
    """If this fails, read the parts again, adapt the worker, then update the digest."""
    source = "".join(inspect.getsource(part) for part in PARTS)

    assert sha256(source.encode()).hexdigest() == READ
