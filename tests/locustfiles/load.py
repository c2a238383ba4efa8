"""Runs of Locust against a small service of real processes."""

import csv
import re
import subprocess
import sys

from launch.service import Seed

FEW_PEOPLE = Seed(people=100, friends=20)


class Run:
    """A headless run of Locust that has ended."""

    def __init__(self, service, folder, *options, file="locustfiles/fanout.py", seconds=3):
        self.folder = folder
        defaults = {
            "host": service.url,
            "tokens": service.tokens,
            "users": 20,
            "spawn-rate": 100,
            "run-time": f"{seconds}s",
            "accepted": folder / "accepted.csv",
            "requests": folder / "requests.csv",
        }
        done = subprocess.run(
            [
                *(sys.executable, "-m", "locust", "-f", str(file), "--headless", "--only-summary"),
                *(f"--{name}={value}" for name, value in defaults.items()),
                *options,
            ],
            capture_output=True,
            text=True,
            timeout=600,
        )
        self.exit_code = done.returncode
        self.stdout = done.stdout
        self.log = done.stderr
        self.output = done.stdout + done.stderr

    @property
    def last_line(self):
        return self.stdout.rstrip().splitlines()[-1]

    @property
    def broken(self):
        """The limits that were broken, in order."""
        return re.findall(r"(--fail-[a-z0-9-]+) \S+ is broken", self.log)

    def rows(self, name):
        with (self.folder / name).open(newline="") as file:
            return list(csv.DictReader(file))
