from collections import OrderedDict
from collections.abc import Iterator

from gunicorn.workers.gthread import TConn


class KeptAlive:
    """The part of gunicorn's deque of idle connections that it uses, the oldest first.

    Unlike from a deque, any connection is removed in constant time.
    """

    def __init__(self) -> None:
        self._conns: OrderedDict[TConn, bool] = OrderedDict()

    def __len__(self) -> int:
        return len(self._conns)

    def __iter__(self) -> Iterator[TConn]:
        return iter(self._conns)

    def __contains__(self, conn: TConn) -> bool:
        return conn in self._conns

    def __getitem__(self, index: int) -> TConn:
        """Return the oldest; gunicorn asks for no other."""
        return next(iter(self._conns))

    def append(self, conn: TConn) -> None:
        self._conns[conn] = True

    def popleft(self) -> TConn:
        return self._conns.popitem(last=False)[0]

    def remove(self, conn: TConn) -> None:
        del self._conns[conn]

    def pop(self, conn: TConn, default: None) -> bool | None:
        """Remove a connection, like a dict; return whether it was there."""
        return self._conns.pop(conn, default)
