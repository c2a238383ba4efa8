"""Run a command with a private MySQL or MariaDB as the service's database.

LAB_MYSQL=mysql python -m tests.with_mysql pytest tests/feed
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from launch.processes import Processes
from launch.servers import MySQL


def main(command: list[str]) -> int:
    with (
        TemporaryDirectory(prefix="tests-") as folder,
        Processes(Path(folder) / "logs") as processes,
    ):
        server = MySQL(processes, Path(folder) / "mysql", "local", profile="tuned.cnf")
        server.start()
        print(f"on {server.version()}", file=sys.stderr)
        return subprocess.run(command, env={**os.environ, **server.environment}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
