"""Prints how long a closed user waits; a process of its own, since importing Locust patches it."""

import json
import time
from types import SimpleNamespace

from locustfiles.arrivals import Closed

PACE_S = 0.4


def main():
    started = time.monotonic()
    user = Closed(SimpleNamespace(), PACE_S)
    user.begin()
    phase_s = time.monotonic() - started
    waits_s = []
    for late_s in (PACE_S / 2, PACE_S, 3 * PACE_S, 0):
        time.sleep(late_s)
        waits_s.append(user.wait_s())
    print(json.dumps({"phase_s": phase_s, "waits_s": waits_s}))


if __name__ == "__main__":
    main()
