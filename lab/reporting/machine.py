"""The machine of a result, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

README_MS = 18.0
"""For the fixed piece of Python (calibration), on the README's machine when nothing else ran."""
ABOUT = 1.25


def machine(environments: Sequence[Mapping[str, Any]]) -> str:
    env = environments[0]
    named = [pair for one in environments for pair in one["servers"].items()]
    servers = sorted({f"{role} {text}" if text[0].isdigit() else text for role, text in named})
    software = ", ".join([f"Python {env['python']}", *servers])
    speeds = [one["calibration_ms"] for one in environments]
    return (
        f"{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, {software}, commit "
        f"{env['commit'] or 'unknown'}. {speed(speeds)}"
    )


def speed(speeds_ms: Sequence[float]) -> str:
    """Compare the time for a fixed piece of Python with the README's machine."""
    low, high = min(speeds_ms), max(speeds_ms)
    times = [took_ms / README_MS for took_ms in (low, high)]
    took = f"{low:g} ms" if low == high else f"{low:g} to {high:g} ms"
    if max(times) <= ABOUT:
        return f"It is as fast as the README's when nothing else ran there (calibration {took})."
    ratio = f"{times[1]:.1f}" if high / low <= ABOUT else f"{times[0]:.1f} to {times[1]:.1f}"
    return (
        f"For the same Python it took {ratio} times as long as the README's when nothing else ran "
        f"there (calibration {took}, not {README_MS:g})."
    )
