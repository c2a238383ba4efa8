"""Unknown names: which one was probably meant, or what there is."""

from collections.abc import Iterable
from difflib import get_close_matches


def none_of(said: str, known: Iterable[str]) -> str:
    """Return the text of an error about a name that none of the known ones is."""
    names = list(known)
    if meant := did_you_mean(said, names):
        return f"{said!r} is unknown{meant}"
    return f"{said!r} is none of {', '.join(names) or '(nothing)'}"


def did_you_mean(said: str, known: Iterable[str]) -> str:
    """Return the end of a sentence with the known names that are close; "" if none is."""
    close = get_close_matches(said, known)
    return f"; did you mean {' or '.join(close)}?" if close else ""
