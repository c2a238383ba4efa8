"""What management commands share."""

from collections.abc import Iterator

from django.core.management import BaseCommand, CommandError
from rich.progress import Progress


class SeedCommand(BaseCommand):
    """A command that writes a lot, and shows how far it is."""

    def write(self, what: str, shares: Iterator[float]) -> None:
        """Draw a bar by the shares done (0 … 1). Raises CommandError for a ValueError of theirs."""
        try:
            with Progress() as progress:
                bar = progress.add_task(what, total=1.0)
                for done in shares:
                    progress.update(bar, completed=done)
        except ValueError as error:
            raise CommandError(str(error)) from error
