"""Note which processes listen on a port of their own (--reuse-port)."""

import os
from pathlib import Path

from gunicorn import sock

create_sockets = sock.create_sockets


def create_and_note(*arguments):
    with Path(os.environ["LISTENING"]).open("a") as file:
        file.write(f"{os.getpid()}\n")
    return create_sockets(*arguments)


sock.create_sockets = create_and_note
