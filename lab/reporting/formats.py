"""Number formats of reports."""


def number(value: float | None) -> str:
    """Format a figure with its significant digits."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measured(value: float | None) -> str:
    return "not measured" if value is None else number(value)


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"
