"""Threads that do something again and again while a block runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from launch.processes import RunFailed


@contextmanager
def repeated(*steps: Callable[[], object], every_s: float = 0.0) -> Iterator[None]:
    """Repeat each step in a thread of its own while the block runs, with a pause before it.

    Raises RunFailed at the end of the block if a step raised something.
    """
    stopping, failed = Event(), list[Exception]()

    def repeat(step: Callable[[], object]) -> None:
        try:
            while not stopping.wait(every_s):
                step()
        except Exception as error:  # raised again when the block ends
            failed.append(error)

    threads = [Thread(target=repeat, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    if failed:
        raise RunFailed(f"a thread failed: {failed[0]!r}") from failed[0]
