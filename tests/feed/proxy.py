"""A server between a client and Redis, which counts what a client waits for."""

from socket import SHUT_RDWR, create_connection, create_server
from threading import Thread
from urllib.parse import urlsplit


class Proxy:
    """Passes everything on; ``exchanges``: how often a client wrote after it had got an answer."""

    def __init__(self, url):
        self._server_of = urlsplit(url)
        self._listening = create_server(("127.0.0.1", 0))
        self._sockets = [self._listening]
        self.url = f"redis://127.0.0.1:{self._listening.getsockname()[1]}"
        self.exchanges = 0

    def __enter__(self):
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error):
        for it in self._sockets:
            it.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = create_connection((self._server_of.hostname, self._server_of.port))
            self._sockets += [client, server]
            turn = [server]  # who has written last
            for pair in ((client, server), (server, client)):
                Thread(target=self._pass_on, args=(*pair, client, turn), daemon=True).start()

    def _pass_on(self, source, to, client, turn):
        while True:
            try:
                data = source.recv(2**16)
                if not data:
                    return to.shutdown(SHUT_RDWR)
                if source is client and turn[0] is not client:
                    self.exchanges += 1
                turn[0] = source
                to.sendall(data)
            except OSError:
                return
