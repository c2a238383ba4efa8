"""Daily users to requests per second and back: the published calculator."""

import math

DAY_S = 86_400


def mean_rps(daily_users: float, requests_each: float) -> float:
    """Return the requests per second of a day if they are spread evenly."""
    return daily_users * requests_each / DAY_S


def peak_rps(mean: float, peak_factor: float) -> float:
    """``peak_factor``: peak traffic over usual traffic."""
    return mean * peak_factor


def virtual_users(rps: float, requests: int, iteration_s: float) -> int:
    """Return how many virtual users make this rate, with ``requests`` per iteration in sequence."""
    return math.ceil(round(rps * iteration_s / requests, 6))


def daily_users(rps: float, requests_each: float, peak_factor: float) -> int:
    """Return the daily users of a service that answers this many requests per second."""
    return math.floor(round(rps / peak_factor * DAY_S / requests_each, 6))
