"""A TCP proxy in front of a server: it counts, puts the server far away, or loses its answers."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from queue import SimpleQueue


class Proxy:
    """Each direction takes ``delay_s``; while ``is_silent``, nothing comes back.

    ``exchanges``: how often a client wrote after it had got an answer.
    """

    def __init__(self, listener, server, delay_s):
        self.port = listener.getsockname()[1]
        self.delay_s, self.is_silent, self.exchanges = delay_s, False, 0
        self._listener, self._server, self._sockets = listener, server, []

    def accept(self):
        with suppress(OSError):  # it is closed at the end
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._sockets += [client, server]
                last = [client]
                self._pump(client, server, client, last)
                self._pump(server, client, client, last)

    def close(self):
        for it in (self._listener, *self._sockets):
            with suppress(OSError):
                it.shutdown(socket.SHUT_RDWR)
            it.close()

    def _pump(self, source, target, client, last):
        arriving = SimpleQueue()
        _start(self._receive, source, arriving)
        _start(self._pass_on, target, arriving, client, last)

    def _receive(self, source, arriving):
        data = b"first"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            arriving.put((time.monotonic() + self.delay_s, data))

    def _pass_on(self, target, arriving, client, last):
        """Pass on what arrives; ``last[0]`` is to whom something was passed on last."""
        with suppress(OSError):
            while True:
                at, data = arriving.get()
                time.sleep(max(0, at - time.monotonic()))
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                if target is client and self.is_silent:
                    continue
                if target is not last[0]:
                    self.exchanges += target is not client
                    last[0] = target
                target.sendall(data)


def _start(work, *arguments):
    threading.Thread(target=work, args=arguments, daemon=True).start()


@contextmanager
def proxy(port, host="127.0.0.1", *, delay_s=0.0):
    """A proxy in front of a server, which ends with the block."""
    running = Proxy(socket.create_server(("127.0.0.1", 0)), (host, port), delay_s)
    _start(running.accept)
    try:
        yield running
    finally:
        running.close()
