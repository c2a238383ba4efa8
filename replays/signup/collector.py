"""Follows a log and parses every line: python -m replays.signup.collector FILE.

As a log router beside an app server does. The fields of each line go to standard output as JSON;
they are sent nowhere.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

LOOK_AGAIN_S = 0.1
LINE = re.compile(
    r'(?P<host>\S+) \S+ \S+ \[(?P<at>[^]]+)\] "(?P<method>\S+) (?P<path>\S+) [^"]*" '
    r'(?P<status>\d+) (?P<bytes>\S+) "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)"'
)


def follow(path: Path) -> Iterator[str]:
    """Yield the lines of a file, and without end those that are added."""
    with path.open(errors="replace") as file:
        while True:
            yield from file
            time.sleep(LOOK_AGAIN_S)


def fields(line: str) -> dict[str, str]:
    """Return the fields of a request's line; any other is a message."""
    match = LINE.match(line)
    return match.groupdict() if match else {"message": line.rstrip()}


if __name__ == "__main__":
    for line in follow(Path(sys.argv[1])):
        print(json.dumps(fields(line)), flush=True)
