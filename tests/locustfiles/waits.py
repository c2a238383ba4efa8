"""Prints how long a closed user waits; a process of its own, since importing Locust patches it."""

import json
import time
from types import SimpleNamespace

from locustfiles.arrivals import Closed

PACE_S = 0.4


def main():
    started = time.time()
    user = Closed(SimpleNamespace(), PACE_S)
    user.begin()
    begun = user._due
    turns = []
    for late_s in (PACE_S / 2, PACE_S, 3 * PACE_S, 0):
        time.sleep(late_s)
        turns.append((time.time(), user.wait_s()))
    print(json.dumps({"started": started, "begun": begun, "pace_s": PACE_S, "turns": turns}))


if __name__ == "__main__":
    main()
