"""A curve in one line of text."""

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def curve(values: Sequence[float | None]) -> str:
    """Draw values from 0 to the largest, a letter for each; unknown ones are gaps."""
    most = max((value for value in values if value is not None), default=0.0)
    step = (most or 1.0) / (len(BARS) - 1)
    bars = (" " if value is None else BARS[round(value / step)] for value in values)
    return f"{''.join(bars)} 0 to {most:,.0f}"
