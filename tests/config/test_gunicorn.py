import logging
import threading
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from config.gunicorn import post_worker_init


class Writers(logging.Handler):
    """Remembers which threads write lines."""

    def __init__(self):
        super().__init__()
        self.threads = SimpleQueue()

    def emit(self, record):
        self.threads.put(threading.current_thread())


@pytest.mark.parametrize("in_background", [True, False])
def test_log_lines_are_written_in_the_background_if_the_settings_in_use_say_so(
    in_background, settings
):
    settings.LOG_IN_BACKGROUND = in_background
    log, writers = logging.Logger("access", logging.INFO), Writers()
    log.addHandler(writers)

    post_worker_init(SimpleNamespace(log=SimpleNamespace(access_log=log)))
    log.info("GET /")

    is_other = writers.threads.get(timeout=20) is not threading.current_thread()
    assert is_other is in_background
