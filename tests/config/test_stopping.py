import sys
from http.client import HTTPConnection
from threading import Thread

from lab.processes import Processes, free_port

CLIENTS = 8


def test_a_server_that_stops_answers_whoever_it_does_not_refuse(tmp_path):
    port = free_port()
    server = [sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py"]
    env = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3", "WEB_WORKERS": "2"}
    clients = [Client(port) for _ in range(CLIENTS)]
    with Processes(tmp_path) as processes:
        processes.start("web", [*server, f"--bind=127.0.0.1:{port}"], env)
        processes.wait_until("web", lambda: _answers(port))
        for client in clients:
            client.start()
        processes.wait_until("web", lambda: all(client.answered > 10 for client in clients))

    for client in clients:
        client.join()
        assert (client.error, client.refused) == (None, True)


class Client(Thread):
    """Asks again and again, on a new connection each time, until it isn't answered."""

    def __init__(self, port):
        super().__init__()
        self.port = port
        self.answered = 0
        self.refused = False
        self.error = None

    def run(self):
        try:
            while True:
                _ask(self.port)
                self.answered += 1
        except ConnectionRefusedError:
            self.refused = True
        except Exception as error:
            self.error = error


def _ask(port):
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    finally:
        connection.close()


def _answers(port):
    try:
        _ask(port)
    except ConnectionRefusedError:
        return False
    return True
