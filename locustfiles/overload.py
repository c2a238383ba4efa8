"""People post at several rates in turn, answered or not, and a prober watches.

    python -m locustfiles.overload --host http://127.0.0.1:8000 --rates 500,1000,1500,2500

Arrivals are open (``locustfiles.open_load``).
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Sequence
from itertools import cycle, islice

from locustfiles.open_load import OpenLoad, parser, post_by, random_times, read_tokens, step
from locustfiles.prober import probe

REQUESTS = 2000
"""Different requests; they are built before the load."""


def run(options: argparse.Namespace) -> None:
    load = OpenLoad(options)
    people = islice(cycle(read_tokens(options.tokens)), REQUESTS)
    posts = cycle([post_by(token, load.host) for token in people])
    prober = multiprocessing.Process(
        target=probe, args=(*load.address, options.probes), daemon=True
    )
    prober.start()
    steps = []
    at = time.time()
    for rate in options.rates:
        start = at + options.warm_up_s
        load.offer(zip(random_times(rate, at, start), posts, strict=False))
        at = start + options.run_time_s
        late_s = load.offer(zip(random_times(rate, start, at), posts, strict=False))
        steps.append(step(rate, start, at, late_s))
    load.finish(steps)
    prober.terminate()
    prober.join()


def _rates(text: str) -> list[float]:
    return [float(rate) for rate in text.split(",")]


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    options = parser(__doc__, "locustfiles.overload")
    options.add_argument("--rates", type=_rates, required=True, help="posts per second, in turn")
    options.add_argument("--probes", default=os.devnull, help="a CSV file to write")
    return options.parse_args(argv)


if __name__ == "__main__":
    run(parse())
