from collections.abc import Iterator

from django.core.management import BaseCommand, CommandError
from rich.progress import Progress


class SeedCommand(BaseCommand):
    """Base class of the commands that write many rows."""

    def write(self, label: str, shares: Iterator[float]) -> None:
        """Show a bar of ``shares`` (0 … 1). Turns a ValueError into a CommandError."""
        try:
            with Progress() as progress:
                bar = progress.add_task(label, total=1.0)
                for done in shares:
                    progress.update(bar, completed=done)
        except ValueError as error:
            raise CommandError(str(error)) from error
