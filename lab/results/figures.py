"""Figures of a result, from single requests and receipts."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from launch.service import Receipt

BACKLOG_EVERY_S = 0.5
RESAMPLES = 2000


def percentiles(values_ms: ArrayLike, names: Sequence[str]) -> dict[str, float | None]:
    """Return the named figures (mean, p50 … p99, max), each None without values."""
    values = np.asarray(values_ms, np.float64)
    return {name: round(_figure(values, name), 2) if values.size else None for name in names}


def quantiles(values_ms: ArrayLike) -> list[float]:
    """Return 101 of them, from the smallest to the largest; none without values."""
    values = np.asarray(values_ms, np.float64)
    if not values.size:
        return []
    found: list[float] = np.quantile(values, np.linspace(0, 1, 101)).round(2).tolist()
    return found


def by_second(
    ended_and_ms: Iterable[tuple[float, float]], start: float, seconds: int
) -> list[tuple[int, int, float | None]]:
    """Return (second, how many, p99 of their ms) for each second since ``start``."""
    found: list[list[float]] = [[] for _ in range(seconds)]
    for ended_at, ms in ended_and_ms:
        if start <= ended_at < start + seconds:
            found[int(ended_at - start)].append(ms)
    return [(at, len(ms), percentiles(ms, ["p99"])["p99"]) for at, ms in enumerate(found)]


def lag_ms(receipts: Sequence[Receipt], read_at: float) -> list[float]:
    """Return the time to the receipt of posts; those without one have waited until ``read_at``."""
    return [
        ((read_at if receipt.delivered_at is None else receipt.delivered_at) - receipt.created_at)
        * 1000
        for receipt in receipts
    ]


def interval_of_median(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the median; (0, 0) without values.

    Of up to five values, that is the smallest and the largest.
    """
    if not values:
        return 0.0, 0.0
    drawn = np.random.default_rng(0).choice(values, (RESAMPLES, len(values)))
    low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5), method="inverted_cdf")
    return float(low), float(high)


def by_size(receipts: Sequence[Receipt]) -> dict[int, list[Receipt]]:
    """Group receipts by deliveries, rounded up to a power of ten, the smallest first."""
    found: dict[int, list[Receipt]] = {}
    for receipt in sorted(receipts, key=lambda receipt: receipt.deliveries):
        found.setdefault(10 ** len(str(max(0, receipt.deliveries - 1))), []).append(receipt)
    return found


def deliveries(receipts: Sequence[Receipt], start: float, end: float) -> int:
    """Return how many deliveries were receipted in a window."""
    return sum(
        receipt.deliveries
        for receipt in receipts
        if receipt.delivered_at is not None and start <= receipt.delivered_at < end
    )


def flow(receipts: Sequence[Receipt], start: float, end: float) -> tuple[int, int]:
    """Return how many posts got their receipt in a window, and by how many the backlog grew."""
    created = sum(start <= receipt.created_at < end for receipt in receipts)
    delivered = sum(start <= (receipt.delivered_at or 0.0) < end for receipt in receipts)
    return delivered, created - delivered


def backlog(receipts: Sequence[Receipt], start: float) -> list[tuple[float, int]]:
    """Return (seconds since ``start``, posts without a receipt) from the first post on."""
    if not receipts:
        return []
    created = np.sort([receipt.created_at for receipt in receipts])
    delivered = np.sort([r.delivered_at for r in receipts if r.delivered_at is not None])
    last = max(created[-1], delivered[-1] if delivered.size else 0)
    times = np.arange(created[0], last + BACKLOG_EVERY_S, BACKLOG_EVERY_S)
    pending = np.searchsorted(created, times, "right") - np.searchsorted(delivered, times, "right")
    return [(round(float(at - start), 3), int(n)) for at, n in zip(times, pending, strict=True)]


def drain_s(receipts: Sequence[Receipt]) -> float | None:
    """Return the seconds from the last post to the last receipt; None if a post has none."""
    if not receipts or any(receipt.delivered_at is None for receipt in receipts):
        return None
    last_post = max(receipt.created_at for receipt in receipts)
    last_receipt = max(receipt.delivered_at or 0 for receipt in receipts)
    return round(max(0.0, last_receipt - last_post), 3)


def _figure(values: np.ndarray, name: str) -> float:
    if name == "mean":
        return float(values.mean())
    if name == "max":
        return float(values.max())
    return float(np.percentile(values, float(name.removeprefix("p"))))
