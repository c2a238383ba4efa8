"""Limits, as the settings name them."""

from django.core.exceptions import ImproperlyConfigured


def rate(text: str) -> dict[str, float]:
    """Return the options of ``accounts.limits.take`` for "number/seconds".

    So many at once, and as many per so many seconds; "0": no limit. Raises ImproperlyConfigured.
    """
    number, _, seconds = text.partition("/")
    try:
        burst, per_s = int(number), int(number) / float(seconds or 1)
    except (ValueError, ZeroDivisionError):
        burst = per_s = -1
    if burst < 0 or per_s < 0:
        raise ImproperlyConfigured(f'{text!r} is no limit; write "number/seconds", or 0 for none')
    return {"burst": burst, "per_s": per_s}
