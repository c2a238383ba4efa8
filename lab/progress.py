"""Progress on the terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

console = Console(stderr=True)
Advance = Callable[..., None]
SAY_EVERY_S = 10
"""Where no bar can be shown."""


def print_whole(*parts: RenderableType) -> None:
    """Print to standard output without cutting a table at the width of the window."""
    out = Console()
    widest = max(
        Measurement.get(out, out.options.update(max_width=1000), part).maximum for part in parts
    )
    Console(width=max(out.width, widest)).print(*parts, sep="\n")


def print_page(page: Path) -> None:
    """Print where a page is, as an address that terminals let one open."""
    console.print(f"the page: {page.resolve().as_uri()}", soft_wrap=True, highlight=False)


@contextmanager
def stage(name: str, seconds: float | None = None) -> Iterator[Advance]:
    """Show a stage while its block runs.

    Yields a function that advances the bar with time and may change its text.
    """
    if not console.is_terminal:
        console.print(f"  {name}" + (f" ({seconds:g} s)" if seconds else ""))
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    started = said_at = time.monotonic()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(name, total=seconds)

        def advance(description: str | None = None) -> None:
            nonlocal said_at
            now = time.monotonic()
            if description and not console.is_terminal and now - said_at >= SAY_EVERY_S:
                said_at = now
                console.print(f"  {description}")
            bar.update(task, completed=now - started, description=description)

        yield advance
