"""The operational laws that the figures of every run have to obey.

They assume nothing about the system, only that nothing was counted twice or left out (Little 1961,
A Proof for the Queuing Formula L = λW; Denning and Buzen 1978, The Operational Analysis of Queueing
Network Models). A result that breaks one of them is not a measurement.
"""

from collections.abc import Iterator
from statistics import fmean

from lab.reporting.formats import number
from lab.results.requests import Request, Requests
from lab.results.result import Balance, Result
from lab.running.load import INTERRUPTED, Load

PAUSED = ("paused", "checked")
"""Arrivals whose users pause after each answer instead of keeping a schedule."""
TOLERANCE = 0.05
"""Share by which the two sides of a law may differ."""
UNACCOUNTED = 0.15
"""Share of the machine's cores that other programs may use."""
CUT_OFF = 0.2
"""Share of the window: a run that is shorter than five of its slow requests cuts them off."""
MOST_STEAL = 0.02
UNCHECKED = "its laws can't be checked: it was measured before they were recorded"


def balance_of(requests: Requests, load: Load, busy_cores: float | None) -> Balance:
    """Return the sides of the laws, of the counted requests within the measured window."""
    start, end = requests.window
    patient = load.patience_s > 0
    begun = [row for row in requests.counted if start <= row.begun_at < end]
    chosen = begun if patient else requests.answered
    return Balance(
        users=load.counted_users,
        arrivals=load.arrivals,
        pace_s=load.pace_s,
        patient=patient,
        rate_rps=round(len(chosen) / load.run_time_s, 3),
        cycle_s=round(fmean(_cycle_s(row, load) for row in chosen), 4) if chosen else 0.0,
        begun_rps=round(len(begun) / load.run_time_s, 3),
        in_flight=round(requests.in_flight, 2),
        waiting_at_end=requests.waiting_at_end,
        busy_cores=busy_cores,
    )


def _cycle_s(request: Request, load: Load) -> float:
    """Return the time from the start of a request until its user may start the next one."""
    answered_s = request.ms / 1000
    if load.arrivals == "checked" and request.error:
        return answered_s
    if load.arrivals in PAUSED:
        return answered_s + load.pace_s
    return max(answered_s, load.pace_s)


def is_cut_off(result: Result) -> bool:
    """Tell whether the latencies are lower bounds, since the window ended before the long ones."""
    is_slow = (result.latency_ms.get("p99") or 0.0) > CUT_OFF * result.window_s * 1000
    balance = result.balance
    if balance is None:
        return is_slow
    waits = balance.patient or balance.arrivals == INTERRUPTED  # a fault takes what it takes
    stuck = balance.in_flight - balance.rate_rps * balance.cycle_s  # users whose answer never came
    return not waits and (is_slow or stuck > TOLERANCE * balance.users)


def implied_mean_s(result: Result) -> float | None:
    """Return the mean latency by Little's law, if all users wait and none pauses; else None."""
    balance = result.balance
    if balance is None or balance.arrivals == "open" or not balance.rate_rps:
        return None
    mean_s = balance.users / balance.rate_rps
    if balance.arrivals in PAUSED:
        pauses = (result.success or 0.0) if balance.arrivals == "checked" else 1.0
        return mean_s - balance.pace_s * pauses
    return mean_s if mean_s > balance.pace_s else None


def mean_ms(result: Result) -> float | None:
    """Return the mean latency; where answers were cut off, at least what Little's law implies."""
    mean, implied_s = result.latency_ms.get("mean"), implied_mean_s(result)
    if mean is None or implied_s is None or not is_cut_off(result):
        return mean
    return max(mean, implied_s * 1000)


def stolen(result: Result) -> Iterator[str]:
    """Yield a sentence if the machine's host gave much of the window's CPU time to others."""
    if result.steal is not None and result.steal > MOST_STEAL:
        yield f"the host gave {result.steal:.1%} of the window's CPU time to others (steal)"


def broken(result: Result) -> Iterator[str]:
    """Yield a sentence for each law that a finished run breaks."""
    if result.audit is None:
        return  # it did not finish, and fails for that
    if result.balance is None:
        yield UNCHECKED
        return
    yield from _little(result, result.balance)
    yield from utilisation(result)
    yield from _flow(result.balance)


def _little(result: Result, balance: Balance) -> Iterator[str]:
    """Check N = X (R + Z); with open arrivals, that the generator kept its schedule."""
    if balance.arrivals == INTERRUPTED:
        return  # users who were away at times
    if balance.arrivals == "open":
        if abs(balance.begun_rps - result.offered_rps) > TOLERANCE * result.offered_rps:
            yield f"arrivals: {number(balance.begun_rps)}/s began, not {result.offered_rps:g}"
        return
    found = balance.rate_rps * balance.cycle_s
    ended_early = balance.cycle_s / result.window_s  # of a cycle that the window's ends cut
    most = 1 + TOLERANCE + ended_early
    least = 0.0 if is_cut_off(result) else 1 - TOLERANCE - ended_early
    if not least * balance.users <= found <= most * balance.users:
        yield (
            f"Little's law: {number(balance.rate_rps)}/s * {number(balance.cycle_s)} s is "
            f"{number(found)} users, not {number(balance.users)}"
        )


def utilisation(result: Result) -> Iterator[str]:
    """Check that the CPU time of the run's processes is what the machine was busy with."""
    busy = result.balance.busy_cores if result.balance else None
    used = result.cores_busy
    if busy is None or used is None:
        return  # servers elsewhere: there is nothing to compare
    bound = UNACCOUNTED * result.environment["cpus"]
    if abs(busy - used) > bound:
        yield (
            f"utilisation: {number(busy)} cores were busy, but the run's processes used "
            f"{number(used)}: other programs used the machine (--shared, if that is meant)"
        )


def _flow(balance: Balance) -> Iterator[str]:
    """Check that accepted posts are delivered or in the backlog."""
    if balance.accepted is None or balance.delivered is None or balance.backlog_growth is None:
        return
    left = balance.accepted - balance.delivered - balance.backlog_growth
    # A request in flight at either end of the window is on one side only.
    if abs(left) > TOLERANCE * balance.accepted + max(balance.in_flight, balance.waiting_at_end):
        yield (
            f"flow: {balance.accepted:,} posts were accepted, but {balance.delivered:,} delivered "
            f"while the backlog grew by {balance.backlog_growth:,}"
        )
