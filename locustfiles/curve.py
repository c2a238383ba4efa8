"""A curve in one line of text."""

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def curve(values: Sequence[float | None]) -> str:
    """Draw values from 0 to the largest, a letter for each; unknown ones are gaps."""
    most = max((it for it in values if it is not None), default=0.0)
    step = (most or 1.0) / (len(BARS) - 1)
    heights = (" " if it is None else BARS[round(it / step)] for it in values)
    return f"{''.join(heights)} 0 to {most:,.0f}"
