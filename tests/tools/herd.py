"""Readers come after a total loss: how long they wait, and what it costs those who post.

python -m tests.tools.herd

A Redis is emptied. While four clients post as fast as they are answered, readers come at a steady
rate, each for the first time; then the same readers come again.
"""

import random
import threading
import time
from argparse import ArgumentParser
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from redis import Redis

from lab.faults.running import serving
from launch.service import Seed

THREADS = 32


class Arrivals:
    """Readers who come at a rate, whatever the answers take; latency counts from when they come."""

    def __init__(self, running, owners, per_s):
        self.running, self.per_s = running, per_s
        self.owners, self.at = iter(enumerate(owners)), time.monotonic()
        self.latencies_s, self.statuses = [], {}
        self._next = threading.Lock()

    def run(self):
        threads = [threading.Thread(target=self._read) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _read(self):
        with closing(HTTPConnection("127.0.0.1", self.running.service.port, timeout=30)) as http:
            while True:
                with self._next:
                    number, owner = next(self.owners, (0, None))
                if owner is None:
                    return
                due = self.at + number / self.per_s
                time.sleep(max(0, due - time.monotonic()))
                token = self.running.tokens[owner - 1]
                http.request("GET", "/v1/feed/", headers={"Authorization": f"Bearer {token}"})
                answer = http.getresponse()
                answer.read()
                self.latencies_s.append(time.monotonic() - due)
                self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1


def phase(name, running, owners, per_s):
    started, arrivals = time.monotonic(), Arrivals(running, owners, per_s)
    with running.load(clients=4):
        arrivals.run()
        ended = time.monotonic()
    cuts = quantiles(arrivals.latencies_s, n=100)
    posts = running.accepted_between(started, ended) / (ended - started)
    print(
        f"{name}: {len(owners) / (ended - started):.0f} feeds/s, p50 {cuts[49] * 1e3:.0f} ms, "
        f"p99 {cuts[98] * 1e3:.0f} ms, {arrivals.statuses}; {posts:.0f} posts/s"
    )


def main():
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--variant", default="mysql_tuned-outbox-ring")
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--friends", type=int, default=50)
    parser.add_argument("--each", type=int, default=4, help="posts that each has written before")
    parser.add_argument("--per-s", type=int, default=200, help="readers")
    parser.add_argument("--seconds", type=int, default=20, help="of each phase")
    options = parser.parse_args()
    seed = Seed(people=options.people, friends=options.friends, graph="zipf")
    posts = ("seed_posts", f"--each={options.each}")
    with (
        TemporaryDirectory(prefix="herd-") as folder,
        serving(options.variant, Path(folder), seed=seed, seeding=[posts]) as running,
    ):
        count = options.per_s * options.seconds
        owners = random.Random(1).sample(range(1, options.people + 1), count)
        with Redis.from_url(running.service.environments[0]["REDIS_URL"]) as redis:
            redis.flushall()
        phase("after the loss", running, owners, options.per_s)
        phase("the same again", running, owners, options.per_s)


if __name__ == "__main__":
    main()
