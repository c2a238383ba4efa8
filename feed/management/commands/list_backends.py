import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand

from feed.strategies import strategies
from feed.strategies.base import Strategy
from feed.timeline_stores import timeline_stores
from feed.timeline_stores.base import TimelineStore
from runtime.backends import BackendHandler


class Command(BaseCommand):
    help = "List the strategies and timeline stores of the settings, with their flags."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        found = {
            "strategies": described(strategies, Strategy),
            "timeline_stores": described(timeline_stores, TimelineStore),
        }
        self.stdout.write(json.dumps(found) if options["json"] else as_text(found))


def described(handler: BackendHandler[Any], base: type) -> dict[str, dict[str, Any]]:
    """Return purpose and flags of every alias: its first line, the bools of the base class."""
    flags = [name for name, value in vars(base).items() if isinstance(value, bool)]
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
            lines.append(
                f"  {alias}: {', '.join(name for name, is_set in flags.items() if is_set is True)}"
            )
    return "\n".join(lines)
