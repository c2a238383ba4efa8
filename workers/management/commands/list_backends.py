import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import BaseCommand

from feed.strategies import strategies
from feed.strategies.base import Strategy
from feed.timeline_stores import timeline_stores
from feed.timeline_stores.base import TimelineStore
from runtime.backends import BackendHandler
from workers.queues import queues
from workers.queues.base import Queue


class Command(BaseCommand):
    help = "List the strategies, timeline stores and queues of the settings, with their flags."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        found = {
            "strategies": described(strategies, Strategy),
            "timeline_stores": described(timeline_stores, TimelineStore),
            "queues": described(queues, Queue),
        }
        self.stdout.write(json.dumps(found) if options["json"] else as_text(found))


def described(handler: BackendHandler[Any], base: type) -> dict[str, dict[str, Any]]:
    """Return purpose and flags of every alias: its first line, what the base class has of them."""
    flags = [
        name
        for name, value in vars(base).items()
        if isinstance(value, bool | tuple) and not name.startswith("_")
    ]
    return {
        alias: {flag: getattr(backend, flag) for flag in flags}
        | {"purpose": (backend.__doc__ or "").partition("\n")[0]}
        for alias, backend in handler.classes().items()
    }


def as_text(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    lines = []
    for axis, backends in found.items():
        lines.append(f"{axis}:")
        for alias, flags in backends.items():
            lines.append(f"  {alias}: {', '.join(as_words(flags))}")
    return "\n".join(lines)


def as_words(flags: dict[str, Any]) -> Iterator[str]:
    for name, value in flags.items():
        if value is True:
            yield name
        elif value and isinstance(value, tuple):
            yield f"{name}: {' or '.join(value)}"
