"""Figures, names and machines in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

LEAST = 0.001
"""Smaller figures are not told apart."""
README_MS = 34.0
"""For the fixed piece of Python (calibration), on the README's machine when nothing else ran."""
ABOUT = 1.25


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
    return "; ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.2%}"


def machine(environments: Sequence[Mapping[str, Any]]) -> str:
    """Describe the machine and the servers of runs, and how fast it was."""
    speeds = [one["calibration_ms"] for one in environments]
    return f"{where(environments)}. {speed(speeds)}"


def where(environments: Sequence[Mapping[str, Any]]) -> str:
    """Describe the machine, the servers and the commit of runs."""
    env = environments[0]
    named = [pair for one in environments for pair in one["servers"].items()]
    servers = sorted({f"{role} {text}" if text[0].isdigit() else text for role, text in named})
    longest = [
        text for text in servers if not any(other.startswith(f"{text},") for other in servers)
    ]
    software = ", ".join([f"Python {env['python']}", *longest])
    return (
        f"{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, {software}, "
        f"{commits(environments)}"
    )


def commits(environments: Sequence[Mapping[str, Any]]) -> str:
    """Name every commit of runs, with how many are of each."""
    counts = Counter(one["commit"] or "unknown" for one in environments)
    if len(counts) == 1:
        return f"commit {next(iter(counts))}"
    named = (f"{commit} ({count})" for commit, count in counts.most_common())
    return f"commits {', '.join(named)}"


def span(values: Sequence[float]) -> str:
    """Return the smallest and the largest, or the one that all are."""
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def speed(speeds_ms: Sequence[float]) -> str:
    """Compare the time for a fixed piece of Python with the README's machine."""
    low, high = min(speeds_ms), max(speeds_ms)
    times = [took_ms / README_MS for took_ms in (low, high)]
    took = f"{span(speeds_ms)} ms"
    if 1 / ABOUT <= min(times) and max(times) <= ABOUT:
        return f"It is as fast as the README's when nothing else ran there (calibration {took})."
    ratio = f"{times[1]:.1f}" if high / low <= ABOUT else f"{times[0]:.1f} to {times[1]:.1f}"
    return (
        f"For the same Python it took {ratio} times as long as the README's when nothing else ran "
        f"there (calibration {took}, not {README_MS:g})."
    )
