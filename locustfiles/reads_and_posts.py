"""People post and read their feeds, answered or not: pages per post is what varies.

    python -m locustfiles.reads_and_posts --posts-per-s 20 --reads-per-s 200 --deep-share 0.1

Arrivals are open (``locustfiles.open_load``). A reader opens the first page; some go on to the
fifth, each page as soon as they have the one before. Pages are checked: they have posts, newest
first, none twice.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import count, cycle
from operator import itemgetter
from urllib.parse import urlsplit

from locustfiles.connections import Answer, Request
from locustfiles.open_load import (
    FEED,
    OpenLoad,
    Schedule,
    head,
    parser,
    post_by,
    random_times,
    read_tokens,
    refusal,
    step,
)

DEEP = f"{FEED}?before"
DEEPEST = 5
"""Page that those who go on reach."""
POSTS_EACH = 2
"""Different posts per person; they are built before the load."""
FIRST_VISITS_AT_ONCE = 4


def pages_per_visit(deep_share: float) -> float:
    return 1 + deep_share * (DEEPEST - 1)


class Readers:
    """Visits of readers in random order, of whom an exact share goes on to the fifth page."""

    def __init__(self, tokens: Sequence[str], host: str, deep_share: float) -> None:
        self._host, self._deep_share = host, deep_share
        self._tokens = cycle(tokens)

    def __iter__(self) -> Iterator[Request]:
        for turn in count():
            is_deep = int((turn + 1) * self._deep_share) > int(turn * self._deep_share)
            yield self.first_page(next(self._tokens), DEEPEST - 1 if is_deep else 0)

    def first_page(self, token: str, more: int = 0) -> Request:
        return self._page(FEED, FEED, token, more)

    def _page(self, name: str, path: str, token: str, more: int) -> Request:
        follow = partial(self._next_page, token, more) if more else _nothing
        return Request("GET", name, head("GET", path, self._host, token), wrong_with, follow)

    def _next_page(self, token: str, more: int, answer: Answer) -> Request:
        """Return the next page; after the last one the first, so that no page is left out."""
        following = json.loads(answer.body)["next"]
        if following is None:
            return self.first_page(token, more - 1)
        url = urlsplit(following)
        return self._page(DEEP, f"{url.path}?{url.query}", token, more - 1)


def wrong_with(answer: Answer) -> str:
    """Return what is wrong with a page; empty for one that has posts, newest first."""
    if answer.status != 200:
        return refusal(answer)
    ids = [post["id"] for post in json.loads(answer.body)["posts"]]
    if not ids:
        return "page without posts"
    return "" if ids == sorted(set(ids), reverse=True) else "page out of order"


def _nothing(answer: Answer) -> None:
    return None


def who_comes(tokens: Sequence[str], cold_share: float) -> list[str]:
    """Return those who post and read, in random order: the same ones for the same people."""
    shuffled = random.Random(1).sample(tokens, len(tokens))  # noqa: S311
    return shuffled[: max(1, round(len(tokens) * (1 - cold_share)))]


def run(options: argparse.Namespace) -> None:
    load = OpenLoad(options)
    people = who_comes(read_tokens(options.tokens), options.cold_share)
    readers = Readers(people, load.host, options.deep_share)
    posts = cycle([post_by(token, load.host) for token in people * POSTS_EACH])
    visits = iter(readers)
    load.ask_all(map(readers.first_page, people), FIRST_VISITS_AT_ONCE)  # fills the caches

    def offer(start: float, end: float) -> list[float]:
        visits_per_s = options.reads_per_s / pages_per_visit(options.deep_share)
        return load.offer(
            merge(
                _at(options.posts_per_s, posts, start, end),
                _at(visits_per_s, visits, start, end),
                key=itemgetter(0),
            )
        )

    start = time.time() + options.warm_up_s
    offer(start - options.warm_up_s, start)
    end = start + options.run_time_s
    late_s = offer(start, end)
    load.finish([step(options.posts_per_s + options.reads_per_s, start, end, late_s)])


def _at(rate: float, requests: Iterator[Request], start: float, end: float) -> Schedule:
    return zip(random_times(rate, start, end), requests, strict=False)


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    options = parser(__doc__, "locustfiles.reads_and_posts")
    options.add_argument("--posts-per-s", type=float, default=20.0)
    options.add_argument("--reads-per-s", type=float, default=200.0, help="pages")
    options.add_argument("--deep-share", type=_share, default=0.1, help="visits that go to page 5")
    options.add_argument("--cold-share", type=_share, default=0.0, help="people who never come")
    return options.parse_args(argv)


if __name__ == "__main__":
    run(parse())
