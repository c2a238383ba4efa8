"""The undocumented parts of gunicorn that web.gunicorn_worker and web.slow_worker use."""

import inspect
from hashlib import sha256

from gunicorn.arbiter import Arbiter
from gunicorn.http.body import LengthReader
from gunicorn.http.parser import Parser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import PollableMethodQueue, TConn, ThreadWorker

READ = "5a4fc4b7fcf861775d779feecfcfc092e6902d2f2a1e379b003353f3d5711df8"
PARTS = (
    TConn,
    PollableMethodQueue,
    ThreadWorker.__init__,
    ThreadWorker.accept,
    ThreadWorker.enqueue_req,
    ThreadWorker.wait_for_and_dispatch_events,
    ThreadWorker.murder_keepalived,
    ThreadWorker.murder_pending,
    ThreadWorker._cap_keepalive,
    ThreadWorker.set_accept_enabled,
    ThreadWorker.on_client_socket_readable,
    ThreadWorker.run,
    ThreadWorker.finish_request,
    ThreadWorker.handle,
    ThreadWorker.handle_request,
    ThreadWorker._keepalive_after,
    Parser,
    Unreader,
    LengthReader,
    Arbiter.spawn_worker,
    Arbiter.reload,
    Arbiter.manage_workers,
)


def test_the_private_parts_of_gunicorn_are_unchanged():
    """If this fails, read the parts again, adapt the worker, then update the digest."""
    source = "".join(inspect.getsource(part) for part in PARTS)

    assert sha256(source.encode()).hexdigest() == READ
