"""Clients that send only a part of a request, or don't read."""

import selectors
import socket
import threading
from contextlib import ExitStack, contextmanager

POST = b"POST /v1/posts/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
KINDS = {
    "byte": b"G",
    "head": b"GET /healthz HTTP/1.1\r\nHost: local",
    "body": POST + b'Content-Length: 100\r\n\r\n{"body": ',
    "expect": POST + b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n",
    "chunked": POST + b'Transfer-Encoding: chunked\r\n\r\n64\r\n{"body": ',
}
ANSWERED = KINDS["chunked"]
"""What is answered as sent. These clients stay when the server closes."""


@contextmanager
def halves(port, sent, count):
    """Keep this many connections open on which ``sent`` was sent; replace those that end."""
    stopped = threading.Event()
    opened = threading.Event()
    thread = threading.Thread(target=_keep_open, args=(port, sent, count, opened, stopped))
    thread.start()
    opened.wait(20)
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@contextmanager
def slow_readers(port, sent, count):
    """Keep this many connections open on which ``sent`` was sent, and read nothing."""
    with ExitStack() as stack:
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(sent)
        yield


def _keep_open(port, sent, count, opened, stopped):
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(_open(selector, port, sent))
        opened.set()
        while not stopped.is_set():
            for key, _ in selector.select(0.1):
                if _has_ended(key.fileobj):
                    selector.unregister(key.fileobj)
                    if sent != ANSWERED:
                        key.fileobj.close()
                        stack.enter_context(_open(selector, port, sent))


def _open(selector, port, sent):
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(sent)
    selector.register(client, selectors.EVENT_READ)
    return client


def _has_ended(client):
    try:
        return not client.recv(65536)
    except OSError:
        return True
