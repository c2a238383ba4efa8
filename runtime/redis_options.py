"""How clients of a Redis server wait for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from redis.backoff import ConstantBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as NoAnswer
from redis.retry import Retry

from runtime import away

TIMEOUT_S = 2


def redis_options(url: str) -> dict[str, Any]:
    """Return options of connections: short time-outs, and one retry on another connection.

    By default redis-py 8 waits 5 s for an answer and tries ten times: a frozen Redis would block a
    call, and the database transaction around it, for about a minute.
    """
    return {
        "socket_connect_timeout": TIMEOUT_S,
        "socket_timeout": TIMEOUT_S,
        # No health check: the retry handles dead connections, and a frozen server would cost two
        # time-outs.
        "retry": _Impatient(url),
        "driver_info": None,  # saves two exchanges per connection
    }


class _Thread(local):
    def __init__(self) -> None:
        self.calls: set[away.Server] = set()
        """Servers that a call is under way to, which may connect within it."""


_thread = _Thread()


@contextmanager
def noting(url: str) -> Iterator[None]:
    """Refuse to enter if a server did not answer a moment ago; note whether it does in the block.

    Raises TimeoutError of redis-py.
    """
    server = away.server(url)
    if server in _thread.calls:  # connects again: the kernel of a frozen server answers that
        yield
        return
    if server.refuses():
        raise NoAnswer("Redis did not answer a moment ago")
    _thread.calls.add(server)
    answers = True
    try:
        yield
    except (NoAnswer, TimeoutError):
        answers = False
        raise
    finally:
        _thread.calls.discard(server)
        server.note(answers=answers)


class _Impatient(Retry):
    """Retries once after a lost connection, and not after a time-out.

    After a time-out of any client of this process, most calls are refused at once
    (``runtime.away``).
    """

    def __init__(self, url: str) -> None:
        super().__init__(ConstantBackoff(0.05), 1, (Disconnected,))
        self._url = url

    def __deepcopy__(self, memo: Any) -> "_Impatient":
        return self  # redis-py gives each connection a copy, but what is known is for all

    def call_with_retry(self, do: Callable[[], Any], *arguments: Any, **options: Any) -> Any:
        with noting(self._url):
            return super().call_with_retry(do, *arguments, **options)
