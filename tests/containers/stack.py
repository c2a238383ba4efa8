"""The containers of compose.yaml, with one choice of profiles and settings."""

import csv
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from tests.compose.clients import Clients
from tests.compose.project import FILE, FOLDER

HTTP_PORT = 8000
CLIENTS = 8
PAUSE_S = 0.1
"""Between two requests of a client: HAProxy allows an address 100 requests/s."""
MOST_OUTPUT = 3000
TRANSCRIPT = Path("var/containers/transcript.md")


class Stack:
    def __init__(self, name, folder, settings):
        self.name, self.folder = name, folder
        self.posts = {}
        """Every post that was answered with 201, by id."""
        folder.chmod(0o777)  # Locust's container writes there
        for file in ("new-env.sh", ".env.example"):
            shutil.copy(FOLDER / file, folder)
        subprocess.run(["/bin/sh", folder / "new-env.sh"], check=True)
        with (folder / ".env").open("a") as env:
            env.writelines(f"{name}={value}\n" for name, value in settings.items())

    def compose(self, *arguments, ok=(0,), **options):
        command = ("docker", "compose", f"--env-file={self.folder}/.env", f"--file={FILE}")
        run = [*command, *map(str, arguments)]
        done = subprocess.run(run, capture_output=True, text=True, **options)
        assert done.returncode in ok, f"{arguments}:\n{(done.stdout + done.stderr)[-MOST_OUTPUT:]}"
        return done.stdout + done.stderr

    def timed(self, *arguments):
        """Run and return how many seconds it took."""
        began = time.monotonic()
        self.compose(*arguments)
        return time.monotonic() - began

    def note(self, what, result):
        row = f"| {self.name} | {what} | {result} |"
        print(row, flush=True)
        with TRANSCRIPT.open("a") as file:
            print(row, file=file)

    def not_ready(self):
        """Return the containers that don't run, or aren't healthy; migrate has to have ended."""
        lines = self.compose("ps", "--all", "--format=json").splitlines()
        return [
            (it["Name"], it["State"], it["Health"])
            for it in map(json.loads, lines)
            if (it["State"], it["Health"] or "healthy", it["ExitCode"])
            != ("exited" if it["Service"] == "migrate" else "running", "healthy", 0)
        ]

    def wait_until_ready(self, within_s=180):
        wait_until(lambda: not self.not_ready(), self.not_ready, within_s)

    def manage(self, *arguments, **options):
        """Run a management command in a container that is always there."""
        where = ("exec", "--no-TTY", "probes", "python", "manage.py")
        return self.compose(*where, *arguments, **options)

    def clients(self):
        listed = self.compose("run", "--rm", "--no-TTY", "seed", "cat", "var/tokens.csv")
        tokens = re.findall(r"^\d+,(\S+)", listed, re.MULTILINE)
        return Clients(HTTP_PORT, tokens[:CLIENTS], PAUSE_S)

    def load(self, *options):
        """Run Locust without its page; return its figures, accepted posts, and kinds of errors."""
        self.compose(
            *("run", "--rm", "--no-TTY", f"--volume={self.folder}:/written", "locust-master"),
            *("locust", "--locustfile=locustfiles/fanout.py", "--host=http://proxy:8001"),
            *("--headless", "--accepted=/written/accepted.csv", "--csv=/written/locust", *options),
            ok=(0, 1),
        )
        accepted = {row["id"]: row for row in self._written("accepted.csv")}
        self.posts |= accepted
        # The statistics may lack the last second.
        rows = self._written("locust_stats.csv")
        figures = next(row for row in rows if row["Name"] == "/v1/posts/")
        errors = {row["Error"] for row in self._written("locust_failures.csv")}
        return figures, len(accepted), errors

    def audit(self):
        """Compare every feed, read to its end, with the database and the accepted posts.

        Return the line of counts, and whether it was clean.
        """
        self.manage("await_drain")
        accepted = self.folder / "accepted-all.csv"
        with accepted.open("w", newline="") as file:
            rows = csv.DictWriter(file, ("id", "author", "created_at"), extrasaction="ignore")
            rows.writeheader()
            rows.writerows(self.posts.values())
        command = ("audit_timelines", "--all", "--accepted=/dev/stdin")
        with accepted.open() as file:
            lines = self.manage(*command, stdin=file, ok=(0, 1)).splitlines()
        return lines[0], "clean" in lines

    def _written(self, name):
        with (self.folder / name).open(newline="") as file:
            return list(csv.DictReader(file))


def wait_until(happened, describe, within_s):
    until = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < until, describe()
        time.sleep(0.5)


def docker(*arguments):
    env = os.environ | {"DOCKER_BUILDKIT": "1"}  # Debian's engine has the older builder, too
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{arguments}:\n{(done.stdout + done.stderr)[-MOST_OUTPUT:]}"
    return done.stdout
