"""The ids of everything: positive, and as large as a BigAutoField holds."""

from typing import Any

MAX_ID = 2**63 - 1
PUBLIC_GROUP_ID = 1


class PositiveIdConverter:
    """A path segment that can be an id; anything else is a 404 before a view is called."""

    regex = "[0-9]{1,19}"

    def to_python(self, value: str) -> int:
        if not 1 <= int(value) <= MAX_ID:
            raise ValueError(value)
        return int(value)

    def to_url(self, value: Any) -> str:
        return str(value)
