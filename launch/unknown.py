"""Unknown names: which one was probably meant, or what there is."""

from collections.abc import Iterable
from difflib import get_close_matches


def none_of(unknown: str, names: Iterable[str]) -> str:
    """Return the error message for a name that is not one of ``names``."""
    names = list(names)
    if hint := did_you_mean(unknown, names):
        return f"{unknown!r} is unknown{hint}"
    return f"{unknown!r} is none of {', '.join(names) or '(nothing)'}"


def did_you_mean(unknown: str, names: Iterable[str]) -> str:
    """Return the end of a sentence with the names that are close; "" if none is."""
    close = get_close_matches(unknown, names)
    return f"; did you mean {' or '.join(close)}?" if close else ""
