import io
import json
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import quantiles
from typing import Any

from django.core.cache import close_caches
from django.core.management import BaseCommand
from django.core.signals import request_finished, request_started
from django.db import connection, reset_queries

from accounts.authentication import access_tokens
from accounts.models import Person
from config.wsgi import application

SIGNALS = ((request_finished, close_caches), (request_started, reset_queries))


class Command(BaseCommand):
    help = (
        "Time POST /v1/posts/ in this process with and without each undocumented part of Django "
        "that shortens it, in turn. Prints how many times as long a post takes without it: median "
        "and quartiles of the rounds (docs/undocumented.md). Writes a person and posts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=31)
        parser.add_argument("--posts", type=int, default=200, help="per round and way")

    def handle(self, *args: Any, rounds: int, posts: int, **options: Any) -> None:
        post = poster()
        for name, without in parts().items():
            ratios = []
            for _ in range(rounds):
                with_s = seconds(post, posts)
                with without():
                    ratios.append(seconds(post, posts) / with_s)
            low, middle, high = quantiles(ratios, n=4)
            self.stdout.write(f"{name}: {middle:.3f} ({low:.3f} … {high:.3f})")


def parts() -> dict[str, Callable[[], Any]]:
    """Return what takes each part out, for the database of this process."""
    found: dict[str, Callable[[], Any]] = {"no-op signal handlers disconnected": connected}
    if connection.vendor == "mysql":
        backend = type(connection)
        for name, method in (
            ("health check once per second", "close_if_health_check_failed"),
            ("transactions begin with BEGIN", "_start_transaction_under_autocommit"),
        ):
            found[name] = partial(without, backend, method)
    return found


@contextmanager
def without(owner: type, method: str) -> Iterator[None]:
    """Let a class inherit a method that it overrides."""
    override = owner.__dict__[method]
    delattr(owner, method)
    try:
        yield
    finally:
        setattr(owner, method, override)


@contextmanager
def connected() -> Iterator[None]:
    for signal, handler in SIGNALS:
        signal.connect(handler)
    try:
        yield
    finally:
        for signal, handler in SIGNALS:
            signal.disconnect(handler)


def poster() -> Callable[[], None]:
    """Return a function that sends one post through the WSGI application."""
    person = Person.objects.create(username=f"poster {time.time_ns()}")
    ((_, token),) = access_tokens([person.id])
    body = json.dumps({"body": "x" * 100}).encode()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/v1/posts/",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
    }

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
