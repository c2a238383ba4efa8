"""Run a command with a private, tuned server as the service's database.

python -m tests.with_database postgres pytest tests/feed
LAB_MYSQL=mysql python -m tests.with_database mysql pytest tests/feed
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from launch.processes import Processes
from launch.servers import servers_for
from launch.servers.postgresql import PostgreSQL
from launch.variants import Variant


def main(database: str, command: list[str]) -> int:
    variant = Variant.named(f"{database}_tuned-inline-setbased")
    with (
        TemporaryDirectory(prefix="tests-") as folder,
        Processes(Path(folder) / "logs") as processes,
    ):
        (server,) = servers_for(variant, "local", processes, Path(folder))
        if isinstance(server, PostgreSQL):
            server.options = ("-c", "fsync=off")  # to drop a database it would wait for the disk
        server.start()
        print(f"on {server.version()}", file=sys.stderr)
        return subprocess.run(command, env={**os.environ, **server.environment}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
