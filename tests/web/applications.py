"""Applications for the worker's tests: paths are the service's, work is a pause or a loop."""

import os
import time
from hashlib import sha256

PAUSE_S = {"/v1/feed/": 0.01, "/v1/posts/": 0.01, "/v1/token/": 0.2, "/v1/people/1/posts/": 0.3}


def pausing(environ, start_response):
    """Take as long as the path says; answer the process, and a digest of the body."""
    time.sleep(PAUSE_S.get(environ["PATH_INFO"], 0))
    return _answer(environ, start_response)


def calculating(environ, start_response):
    """Keep the interpreter busy for a quarter of a second where the service makes exports."""
    ends_at = time.monotonic() + 0.25 * (environ["PATH_INFO"] == "/v1/me/export/")
    while time.monotonic() < ends_at:
        pass
    return _answer(environ, start_response)


def _answer(environ, start_response):
    digest = sha256(environ["wsgi.input"].read()).hexdigest()
    body = f"{os.getpid()} {digest}".encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
