"""Statements whose plan a server may keep."""


class Prepared(str):
    """SQL whose text never changes, and that needs no other plan for other values.

    PostgreSQL takes longer to plan a small statement than to run it; other databases notice
    nothing.
    """

    __slots__ = ()
