"""What else is removed with a person: packages add what they keep about people."""

from collections.abc import Callable

erasers: list[Callable[[int], None]] = []
"""Each removes what its package keeps about a person, by their id; repeating it changes nothing."""


def erase(person_id: int) -> None:
    for eraser in erasers:
        eraser(person_id)
