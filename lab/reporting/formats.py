"""Formats of numbers and names in reports."""

from collections.abc import Sequence

LEAST = 0.001
"""Smaller figures are not told apart."""


def number(value: float | None) -> str:
    """Format a figure with its significant digits."""
    if value is None:
        return "-"
    if 0 < value < LEAST:
        return f"<{LEAST}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measured(value: float | None) -> str:
    return "not measured" if value is None else number(value)


def few(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"
