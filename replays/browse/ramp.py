"""Number of users over time, in a load that ramps up, holds and ramps down."""

SHAPES = {"smoke": 1, "load": 100, "stress": 500}


def users_at(second: float, peak: int, ramp_s: float, hold_s: float) -> int | None:
    """Return the number of users at a second; None at the end."""
    end = ramp_s + hold_s + ramp_s
    if second >= end:
        return None
    # + 1: Locust asks once per second, so this holds until the next second.
    share = min(1.0, (second + 1) / (ramp_s + 1), (end - second) / (ramp_s + 1))
    return max(1, round(peak * share))
