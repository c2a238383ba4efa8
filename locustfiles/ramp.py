"""How many users there are when, in a load that ramps up, holds and ramps down."""

SHAPES = {"smoke": 1, "load": 100, "stress": 500}


def users_at(second: float, peak: int, ramp_s: float, hold_s: float) -> int | None:
    """Return how many users there are by then; None at the end."""
    end = ramp_s + hold_s + ramp_s
    if second >= end:
        return None
    # Locust asks once a second: one more is there when it asks again.
    share = min(1.0, (second + 1) / (ramp_s + 1), (end - second) / (ramp_s + 1))
    return max(1, round(peak * share))
