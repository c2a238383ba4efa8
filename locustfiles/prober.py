"""Asks a health probe again and again, each time on a new connection, and writes the answers."""

import csv
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPException

PATH = "/readyz"
EVERY_S = 0.1
GIVE_UP_S = 5.0


def probe(host: str, port: int, file: str) -> None:
    """Write (timestamp, seconds, status) until the process ends; status 0 without an answer."""
    with open(file, "w", newline="", buffering=1) as out:  # noqa: PTH123
        rows = csv.writer(out)
        rows.writerow(("timestamp", "seconds", "status"))
        due = time.time()
        while True:
            started = time.time()
            status = _ask(host, port)
            rows.writerow((f"{started:.6f}", f"{time.time() - started:.6f}", status))
            due = max(due + EVERY_S, time.time())
            time.sleep(max(0.0, due - time.time()))


def _ask(host: str, port: int) -> int:
    try:
        with closing(HTTPConnection(host, port, timeout=GIVE_UP_S)) as connection:
            connection.request("GET", PATH)
            answer = connection.getresponse()
            answer.read()
            return answer.status
    except (OSError, HTTPException):
        return 0
