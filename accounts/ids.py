"""Ids: positive integers in the range of a BigAutoField."""

from typing import Any

MAX_ID = 2**63 - 1
PUBLIC_GROUP_ID = 1


class PositiveIdConverter:
    """Path converter for ids; any other segment is answered with 404 before a view is called."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        if not 1 <= int(value) <= MAX_ID:
            raise ValueError(value)
        return int(value)

    def to_url(self, value: Any) -> str:
        return str(value)
