import io
import json
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.core.management import BaseCommand, CommandError
from django.db import connections

from accounts.authentication import access_tokens
from accounts.models import Person
from config.wsgi import application
from db.mysql.base import DatabaseWrapper

METHODS = ("close_if_health_check_failed", "_start_transaction_under_autocommit")
"""What ``db.mysql`` overrides."""


class Command(BaseCommand):
    help = (
        "Time POST /v1/posts/ in this process with and without each method of Django's MySQL "
        "backend that ours overrides, in turn. Prints how many times as long a post takes without "
        "it: median and quartiles (docs/undocumented.md). Writes a person and posts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=31)
        parser.add_argument("--posts", type=int, default=200, help="per round and way")

    def handle(self, *args: Any, rounds: int, posts: int, **options: Any) -> None:
        backend = type(connections["default"])
        if backend is not DatabaseWrapper:
            raise CommandError("DATABASE_URL names no MySQL or MariaDB")
        post = poster()
        for method in METHODS:
            ratios = []
            for _ in range(rounds):
                with_s = seconds(post, posts)
                with without(backend, method):
                    ratios.append(seconds(post, posts) / with_s)
            low, middle, high = quantiles(ratios, n=4)
            self.stdout.write(f"{method}: {middle:.3f} ({low:.3f} … {high:.3f})")


@contextmanager
def without(owner: type, method: str) -> Iterator[None]:
    """Let a class inherit a method that it overrides."""
    override = owner.__dict__[method]
    delattr(owner, method)
    try:
        yield
    finally:
        setattr(owner, method, override)


def poster() -> Callable[[], None]:
    """Return a function that sends one post through the WSGI application."""
    person = Person.objects.create(username=f"poster {time.time_ns()}")
    ((_, token),) = access_tokens([person.id])
    body = json.dumps({"body": "x" * 100}).encode()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/v1/posts/",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
    }
    setup_testing_defaults(environ)

    def post() -> None:
        answers: list[str] = []
        answer = application(
            environ | {"wsgi.input": io.BytesIO(body)}, lambda status, *_: answers.append(status)
        )
        b"".join(answer)
        answer.close()  # type: ignore[attr-defined]
        assert answers == ["201 Created"], answers

    return post


def seconds(post: Callable[[], None], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        post()
    return time.perf_counter() - started
